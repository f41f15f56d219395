// What every page can do with a script.
import * as handing from "./handing";
import * as wrapping from "./wrapping";

handing.begin();
wrapping.begin();
