// Screening questions and quotas as lines of text, and back. Each line is a question, or a quota.

const LINE = /^([a-z][a-z0-9_]{0,39})\s*:\s*(.+)$/;

/** @param {readonly RecruitingQuestion[]} questions */
export const questionLines = (questions) => questions.map(({ key, text, answers, accepts }) =>
  [`${key}: ${text}`, ...answers.map((answer) => (accepts.includes(answer) ? `*${answer}` : answer))].join(" | ")).join("\n");

/** @param {readonly RecruitingQuota[]} quotas */
export const quotaLines = (quotas) => quotas.map(({ where, most }) =>
  `${Object.entries(where).map(([key, answer]) => `${key} = ${answer}`).join(" & ")}: ${most}`).join("\n");

/** @param {string} text @returns {[string, number][]} */
const filled = (text) => text.split("\n").map((line, at) => /** @type {[string, number]} */ ([line.trim(), at + 1])).filter(([line]) => line);

/** Throws an Error that names the line. @param {string} text @returns {RecruitingQuestion[]} */
export const questionsOf = (text) => filled(text).map(([line, at]) => {
  const [head = "", ...answers] = line.split("|").map((part) => part.trim());
  const found = LINE.exec(head);
  if (!found || answers.length < 2 || answers.some((answer) => !answer.replace(/^\*/, ""))) {
    throw new Error(`Questions, line ${at}: write “age: How old are you? | under 18 | *18 or older”: a short name, the question, and two answers or more. A star marks accepted answers.`);
  }
  return { key: found[1] ?? "", text: found[2] ?? "", answers: answers.map((answer) => answer.replace(/^\*\s*/, "")),
    accepts: answers.filter((answer) => answer.startsWith("*")).map((answer) => answer.replace(/^\*\s*/, "")) };
});

/** Throws an Error that names the line. @param {string} text @returns {RecruitingQuota[]} */
export const quotasOf = (text) => filled(text).map(([line, at]) => {
  const found = /^(.+):\s*(\d{1,7})$/.exec(line);
  const pairs = (found?.[1] ?? "").split("&").map((part) => part.split("=").map((side) => side.trim()));
  if (!found || pairs.some((pair) => pair.length !== 2 || !pair[0] || !pair[1])) {
    throw new Error(`Quotas, line ${at}: write “gender = woman & age = over 40: 20”: names of questions with an answer each, and the number of people.`);
  }
  return { where: Object.fromEntries(pairs), most: Number(found[2]) };
});
