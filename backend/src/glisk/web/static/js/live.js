// Hears what changes, for as long as the page is looked at. The page says of what it wants to hear: <body data-live="of=news">.
// Each event is told on as a DOM event of the body: "live:card", "live:numbers", "live:behind"; and "news", for
// hx-trigger="news from:body", which waits while somebody is about to do something.
"use strict";
(() => {
  const wanted = document.body.dataset.live;
  if (!wanted) return;
  const QUIET = 1000, SPREAD = 3000; // ms: so long after a storm we look anew, not all at once
  let source = null, after = document.body.dataset.after, later = 0, hasNews = false;

  function tell(name, detail) {
    document.body.dispatchEvent(new CustomEvent(name, { detail }));
  }

  function isBusy() {
    return document.querySelector("details.action[open], dialog[open]") || !document.getSelection().isCollapsed;
  }

  function tellNews() {
    if (isBusy()) {
      hasNews = true;
    } else {
      hasNews = false;
      tell("news");
    }
  }

  function open() {
    source = new EventSource(`/live?${wanted}${after ? `&after=${encodeURIComponent(after)}` : ""}`);
    for (const name of ["card", "numbers"]) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) after = event.lastEventId;
        tell(`live:${name}`, event.data);
      });
    }
    source.addEventListener("news", (event) => {
      if (event.lastEventId) after = event.lastEventId;
      tellNews();
    });
    source.addEventListener("behind", () => {
      clearTimeout(later);
      later = setTimeout(() => tell("live:behind"), QUIET + Math.random() * SPREAD);
    });
    source.onopen = () => document.body.setAttribute("data-connected", "");
    source.onerror = () => document.body.removeAttribute("data-connected");
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  // A page that nobody sees holds no connection: browsers have but six for a site.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (!source) open();
  });
  addEventListener("pagehide", close);
  setInterval(() => hasNews && tellNews(), 1000);
  open();
})();
