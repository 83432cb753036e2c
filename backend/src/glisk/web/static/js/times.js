// Says anew how long ago things were, as time goes by. words.py says it first, in the same way.
"use strict";
(() => {
  const units = [[60, 1, "s"], [3600, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "d"]];

  function said(seconds) {
    const gap = Math.abs(seconds);
    if (gap < 1) return "now";
    const [, unit, name] = units.find(([limit]) => gap < limit);
    const text = `${Math.floor(gap / unit)} ${name}`;
    return seconds < -1 ? `in ${text}` : `${text} ago`;
  }

  function sayAll() {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const text = said((Date.now() - Date.parse(time.dateTime)) / 1000);
      if (time.textContent !== text) time.textContent = text;
    }
  }

  setInterval(sayAll, 5000);
})();
