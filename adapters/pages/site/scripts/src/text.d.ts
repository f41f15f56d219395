declare module "*.txt" {
  const text: string;
  export default text;
}

declare module "catalogue" {
  const entries: [name: string, aliases: string[], extensions: string[], files: string[], interpreters: string[]][];
  export default entries;
}
