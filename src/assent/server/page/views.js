// The views of the page, in the order of their tabs and keys. A new view is a module of its own and a row here.

import { Audit } from "./audit.js";
import { Inbox } from "./inbox.js";
import { Live } from "./live.js";
import { Policy } from "./policy.js";
import { Simulator } from "./simulator.js";

export const VIEWS = [
  { name: "inbox", title: "Inbox", View: Inbox, icon: "M4 13l2.5-7.5h11L20 13v5.5H4z M4 13h4.6l1.2 2.4h4.4l1.2-2.4H20" },
  { name: "live", title: "Live", View: Live, icon: "M3 12.5h4l2.4-7 4.6 13 2.6-6H21" },
  { name: "simulator", title: "Simulator", View: Simulator, icon: "M9.5 4h5 M10.5 4v6L5 19.2h14L13.500 10V4 M8 15h8" },
  { name: "audit", title: "Audit", View: Audit, icon: "M5 20V10 M10 20V4.500 M15 20v-7 M20 20V8" },
  { name: "policy", title: "Policy", View: Policy, icon: "M12 3.500l7.500 2.800v5.200c0 4.600-3.200 7.600-7.500 9-4.300-1.400-7.500-4.400-7.500-9V6.300z" },
];
