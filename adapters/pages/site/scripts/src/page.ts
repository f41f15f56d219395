// What every page can do with a script.
import * as handing from "./handing";

handing.begin();
