// A narrow screen begins with the list of pages closed. Without scripts it is open. A wide one shows the present page in it.
const pages = document.querySelector("nav");
if (matchMedia("(max-width: 60rem)").matches) pages.querySelector("details").open = false;
const present = pages.querySelector("[aria-current]");
if (present) pages.scrollTop = present.offsetTop - pages.clientHeight / 3;

// Whoever uses a keyboard can scroll what is wider than the screen.
for (const box of document.querySelectorAll("pre, .scroll")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;

// The sections that have all words of a query, the best first.
function search(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  const found = [];
  if (!words.length) return { words, found };
  for (const [address, title, sections] of index) {
    for (const [anchor, heading, text] of sections) {
      const where = [heading || title, title, text].map(place => place.toLowerCase());
      let points = 0;
      const hasAll = words.every(word => {
        const times = where[2].split(word).length - 1;
        const more = (where[0].startsWith(word) ? 20 : where[0].includes(word) ? 10 : 0)
          + (where[1].includes(word) ? 5 : 0) + Math.min(times, 4);
        points += more;
        return more;
      });
      if (where[0] === words.join(" ")) points += 50;
      if (hasAll) found.push({ points, address, anchor, title, heading, text });
    }
  }
  return { words, found: found.sort((one, other) => other.points - one.points) };
}

// The text around the first word, with the words marked.
function excerpt(text, words) {
  const lower = text.toLowerCase();
  const first = Math.min(...words.map(word => lower.indexOf(word)).filter(place => place >= 0));
  const start = Number.isFinite(first) ? Math.max(0, text.lastIndexOf(" ", first - 60) + 1) : 0;
  const end = text.length > start + 220 ? text.lastIndexOf(" ", start + 220) : text.length;
  const part = (start ? "… " : "") + text.slice(start, end > start ? end : start + 220) + (end < text.length ? " …" : "");
  const pattern = new RegExp(`(${words.map(word => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|")})`, "iu");
  const line = document.createElement("p");
  part.split(pattern).forEach((piece, number) => {
    const mark = document.createElement(number % 2 ? "mark" : "span");
    mark.textContent = piece;
    line.append(mark);
  });
  return line;
}

const results = document.getElementById("results");
if (results) {
  const input = document.querySelector("input[name=q]");
  const show = () => {
    const { words, found } = search(input.value);
    document.getElementById("found").textContent = !words.length ? "Type a word: a command, a key, a reason, a message."
      : found.length ? `${found.length} found${found.length > 50 ? ", the best 50 shown" : ""}`
      : "Nothing has all of these words. Try fewer, or a part of one.";
    results.replaceChildren(...found.slice(0, 50).map(({ address, anchor, title, heading, text }) => {
      const link = document.createElement("a");
      link.href = anchor ? `${address}#${anchor}` : address;
      link.textContent = heading ? `${title}: ${heading}` : title;
      const item = document.createElement("li");
      item.append(link, excerpt(text, words));
      return item;
    }));
  };
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", show);
  show();
}
