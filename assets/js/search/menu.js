// The other screens, for whoever may see them, in the search page's top bar.
(() => {
  const { $, make } = cirque;
  let known = null;

  function draw() {
    const place = $("[data-pages]");
    if (!known || !place || place.childElementCount) return;
    const links = () => known.pages.map(({ page, title, path }) => make("a", {
      class: "cq-page", href: path || "./", text: title, "aria-current": page === "search" ? "page" : null,
    }));
    const who = known.open
      ? make("p", { class: "cq-quiet", text: "Open without a sign-in, on this machine only. The first account closes it: cirque user add NAME --role admin" })
      : make("button", { class: "cq-page", type: "button", text: `Sign out ${known.name}`, onclick: leave });
    place.append(
      make("div", { class: "cq-pagelinks" }, ...links()),
      make("details", { class: "cq-menu" },
        make("summary", { class: "cq-tool", title: known.open ? "No sign-in" : known.name },
          make("span", { class: "cq-who", "aria-hidden": "true" }, make("span", { text: known.open ? "Local" : [...known.name][0].toUpperCase() })),
          make("span", { class: "sr", text: known.open ? "Other screens" : `${known.name}: other screens, sign out` })),
        make("div", { class: "cq-menubox" }, make("nav", { "aria-label": "Screens" }, ...links()), who)),
    );
  }

  // What keeps it from being done is said: somebody else may sit here next. Signed out already is as good.
  async function leave() {
    let problem = "The server does not answer.", kind = "";
    try {
      const answer = await fetch("sign-out", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
      if (answer.ok || answer.status === 401) return window.location.reload();
      ({ problem, kind } = { problem, kind, ...await answer.json() });
    } catch { /* a proxy in between says so in HTML */ }
    if (kind !== "left-here") return cirque.tell("Not signed out", `${problem} You are still signed in here: try again.`, "Close");
    cirque.tell("Signed out here only", problem, "To the sign-in", () => window.location.reload());
  }

  cirque.onDraw(draw);
  fetch("me", { headers: { Accept: "application/json" } })
    .then((answer) => (answer.ok ? answer.json() : null))
    .then((me) => { known = me; draw(); })
    .catch(() => {}); // without it the page still searches
})();
