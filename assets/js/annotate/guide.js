// Guidelines that whoever runs a study has written, as the server has read their Markdown.
import { at, h } from "../shared/elements.js";

const TAGS = /** @type {const} */ (["p", "em", "strong", "s", "ul", "ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "code", "pre",
  "h3", "h4", "h5", "h6", "a", "img"]);

/** @type {(node: GuideNode) => Child} */
const made = (node) => {
  if (typeof node === "string") return node;
  const tag = TAGS.find((one) => one === node.tag);
  if (!tag) return null;
  if (tag === "img") return h("img", { src: at(node.src ?? ""), alt: node.alt ?? "", loading: "lazy" });
  return h(tag, tag === "a" ? { href: node.href, target: "_blank", rel: "noopener noreferrer" } : {}, (node.children ?? []).map(made));
};

export const readable = (/** @type {GuideNode[]} */ nodes) => h("div", { class: "cq-guide", dir: "auto" }, nodes.map(made));
// Nothing where there are none.
export const ownGuidelines = (/** @type {object} */ page) => {
  const { own_guidelines: nodes = [] } = /** @type {{ own_guidelines?: GuideNode[] }} */ (page);
  return nodes.length ? readable(nodes) : null;
};
