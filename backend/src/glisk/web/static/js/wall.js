// Puts cards on the wall as they come. Nothing moves under the cursor: what is new waits behind a button while somebody points at
// the wall, has scrolled down, or looks at a choice of tokens (data-statuses), where only what belongs to it counts.
"use strict";
(() => {
  const wall = document.getElementById("wall"), newer = document.getElementById("newer"), bare = document.getElementById("bare");
  const MOST = 480; // cards; older ones are behind "Older" again
  const chosen = "statuses" in wall.dataset ? wall.dataset.statuses.split(" ") : null;
  const waiting = new Map();
  let isPointedAt = false; // by what can hover: a finger is gone when it is lifted

  const idOf = (card) => Number(card.dataset.id);
  const cards = () => wall.querySelectorAll(".card");

  function parsed(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return holder.content.querySelector(".card");
  }

  function mustWait() {
    return chosen || isPointedAt || wall.contains(document.activeElement) || scrollY > wall.offsetTop;
  }

  function take(card) {
    const known = document.getElementById(card.id);
    if (known) replace(known, card);
    else if (isOlder(card) || !belongs(card)) waiting.delete(card.id);
    else if (mustWait()) waiting.set(card.id, card);
    else {
      hangWaiting();
      hang(card);
    }
    count();
  }

  function belongs(card) {
    return chosen ? chosen.includes(card.dataset.status) : card.dataset.status !== "orphaned";
  }

  function isOlder(card) {
    const shown = cards(), last = shown[shown.length - 1];
    return last && wall.querySelector(".older") && idOf(card) < idOf(last);
  }

  function replace(known, card) {
    const had = known.querySelector("img"), has = card.querySelector("img");
    if (had && has && had.getAttribute("src") === has.getAttribute("src")) return;
    if (has) arrive(has, card);
    const isFocused = known.contains(document.activeElement);
    known.replaceWith(card);
    if (isFocused) card.querySelector("a").focus();
  }

  // The picture comes out of the blur when it is there, not before.
  function arrive(image, card) {
    image.loading = "eager";
    card.classList.add("is-arriving");
    image.addEventListener("load", () => card.classList.add("is-here"), { once: true });
  }

  function hang(card) {
    const next = [...cards()].find((each) => idOf(each) < idOf(card));
    wall.insertBefore(card, next || wall.querySelector(".older"));
    card.classList.add("is-new");
    bare.hidden = true;
    if (cards().length > MOST) shorten();
  }

  function shorten() {
    const shown = [...cards()];
    shown.slice(MOST).forEach((card) => card.remove());
    const old = wall.querySelector(".older"), older = old ? old.cloneNode(true) : document.createElement("li");
    const address = `/?before=${idOf(shown[MOST - 1])}`;
    older.className = "older";
    for (const [name, value] of [["hx-get", address], ["hx-trigger", "revealed"], ["hx-select", "#wall > li"], ["hx-swap", "outerHTML"]]) {
      older.setAttribute(name, value);
    }
    older.innerHTML = `<a href="${address}">Older</a>`;
    if (old) old.remove();
    wall.append(older);
    htmx.process(older);
  }

  function count() {
    newer.hidden = waiting.size === 0;
    newer.textContent = `${waiting.size} new`;
  }

  function hangWaiting() {
    for (const card of waiting.values()) hang(card);
    waiting.clear();
  }

  newer.addEventListener("click", () => {
    if (chosen) {
      location.reload();
      return;
    }
    hangWaiting();
    count();
    scrollTo({ top: 0, behavior: "smooth" });
  });
  wall.addEventListener("pointerover", (event) => (isPointedAt = event.pointerType === "mouse"));
  wall.addEventListener("pointerleave", () => (isPointedAt = false));
  document.body.addEventListener("live:card", (event) => {
    const card = parsed(event.detail);
    if (card) take(card);
  });
  document.body.addEventListener("live:numbers", (event) => {
    document.getElementById("numbers").innerHTML = event.detail;
  });
  document.body.addEventListener("live:behind", async () => {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const card of [...page.querySelectorAll("#wall > .card")].reverse()) take(document.adoptNode(card));
  });
})();
