// Shows times relative to now. The page has them in UTC.

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31557600], ["month", 2629800], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", {numeric: "auto"});
const exact = new Intl.DateTimeFormat("en-GB", {dateStyle: "full", timeStyle: "long"});

/** distance returns the time from now, such as "3 days ago". */
export function distance(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return relative.format(0, "second");
}

export function begin(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at.getTime())) continue;
    time.title = exact.format(at);
    time.textContent = distance(at, new Date());
  }
}
