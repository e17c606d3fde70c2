// Types that every script sees in the type check (tests/js/tsconfig.json). Browsers never get this file.

// --- elements --------------------------------------------------------------------------------

type Child = Node | string | number | false | null | undefined | readonly Child[];
/** An event that a person causes: it comes from an element. */
type On<E extends Event, Own extends EventTarget = HTMLElement, Target = HTMLElement> = E & { readonly target: Target; readonly currentTarget: Own }
  & (E extends FocusEvent ? { readonly relatedTarget: HTMLElement | null } : unknown);
/** What a selector finds: "#how details[open]" a details element, one without a tag any element of HTML. */
type Found<S extends string> = S extends `${infer One},${infer Other}` ? Found<One> | Found<Other>
  : S extends `${string} ${infer Last}` ? Found<Last>
  : S extends `${infer Tag}[${string}` | `${infer Tag}#${string}` | `${infer Tag}.${string}` | `${infer Tag}:${string}` ? Found<Tag>
  : S extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[S] : HTMLElement;
/** What such an event comes from. A list or a text area has what is asked of a field here, too. */
type From<Name> = Name extends "input" | "change" ? HTMLInputElement : Name extends "submit" | "reset" ? HTMLFormElement : HTMLElement;
interface ParentNode {
  querySelector<S extends string>(selector: S): Found<S> | null;
  querySelectorAll<S extends string>(selector: S): NodeListOf<Found<S>>;
}
interface Element { closest<S extends string>(selector: S): Found<S> | null }
type Handlers = { [K in keyof HTMLElementEventMap as `on${K}`]?: ((event: On<HTMLElementEventMap[K]>) => unknown) | null };
type Props = Handlers & { [name: string]: unknown };
/** A part of a screen that its owner puts somewhere. */
interface Part { element: HTMLElement }
interface Choice extends Part {
  draw(chosen: unknown, how?: { disabled?: boolean }): void;
}

// --- who and where ---------------------------------------------------------------------------

/** `participant`: came by a study's link, and has that study alone, of the name `study`. */
interface Me { name: string; role: string; open: boolean; demo: boolean; participant?: boolean; study?: string; may: string[]; pages: { page: string; title: string; path: string }[] }
interface Account { name: string; role: string; active: boolean; created_at: string }
interface Invitation { invitation: string; role: string; uses_left: number; created_by: string; expires_at: string }
interface People {
  notice: string; people: Account[]; invitations: Invitation[]; roles: { role: string; says: string }[];
  withdrawn?: number; added?: string; path?: string;
}
interface Act { number: number; at: string; kind: string; by: string; about: string; details: Record<string, unknown> }
interface Acts { acts: Act[]; more: boolean; groups: string[]; kinds: string[] }

// --- a person at work in a study ---------------------------------------------------------------

type Kind = "validity" | "preference" | "sessions" | "targets";
interface MissingPicture { token: string; missing: true; small?: undefined; large?: undefined; width?: undefined; height?: undefined }
interface ShownPicture { token: string; missing?: undefined; small: string; large: string; width: number; height: number }
type Picture = ShownPicture | MissingPicture;

interface Reason { key: string; code: string; name: string; needs_note: boolean }
interface Example { reference: string; text: string; target: string; verdict: string; reasons: string[]; because: string }
interface Category { code: string; key: string; name: string; definition: string; short?: string; question?: string; examples: Example[]; reasons?: Reason[]; severity?: number }
interface Flag extends Category { question: string; reasons: Reason[]; severity: number; show_if?: Record<string, boolean> }
interface Rubric {
  title?: string; impossible?: { when: Record<string, boolean>; says: string }[]; intro: string; about_severity: string; about_unsure: string; flags: Flag[]; valid: Category;
  note_limit: number; broad_at: number; unsure_after: number;
}
/** An answer to "is this query valid?". `validated`: null is no verdict. */
interface Validity {
  validated: boolean | null; flags: string[]; reasons: string[]; note: string; alternatives: string[]; unsure: boolean; panel_opened: boolean;
}

type Side = "A" | "B";
/** What the results may be irrelevant to. */
type Mark = "either" | "image" | "text";
/** What a person reads in a preference study, and what is asked of them. */
interface Survey {
  protocol: string; intro: string; set_names: [string, string]; scale: { value: number; name: string }[]; guidelines: string[];
  labels: { image: string; text: string } | null;
  help: { rating: string; preferred: string; irrelevant: string; reason: string };
  questions: { ratings: [string, string]; preferred: string; tie: string; marks: { to: Mark; text: string }[]; reason: string };
  allow_tie: boolean; form_size: number; reason_limit: number;
}
/** An answer to "which of the two sets is better?", in the order that is shown. null: not said yet. */
interface Preference {
  ratings: Record<Side, number | null>; preferred: Side | "tie" | null; irrelevant: Partial<Record<Mark, boolean>>; reason: string; confirmed: boolean;
}
interface Gate {
  kind: "guidelines" | "consent" | "check" | "finished"; text?: string; code?: string | null;
  check?: "sum" | "instruction"; question?: string; instruction?: string; options?: number[]; number?: number; attempt?: number;
}

/** What a person reads in a session study. Questions are answered from 1, `low`, to the last of `points`, `high`; `show_if`: only after one of these ratings of each. */
interface SessionQuestion { key: string; title: string; text: string; low: string; high: string; guide: string; show_if?: Record<string, number[]> }
interface SessionPage { title: string; intro: string; questions: SessionQuestion[]; points: number[]; impossible?: { when: Record<string, number[]>; says: string }[]; note_limit: number }
/** An answer about a session. null: not said yet. */
interface SessionRatings { ratings: Record<string, number | null>; reason: string }

/** What a person reads in a target study. */
interface TargetMark { mark: string; name: string; key: string; help: string }
interface TargetPage { title: string; intro: string; question: string; choices: TargetMark[]; guide: { title: string; text: string }[]; note_limit: number }
/** An answer about a query's images: marks by the image's token; images without one are left out, or null. */
interface TargetMarks { marks: Record<string, string>; note: string }

interface DeskStudy { id: string; name: string; kind: Kind; one: string; many: string; language: string; protocol: string; accepting: boolean; discussed?: boolean }
interface Progress { done: number; total: number; unsure: number; median_seconds: number | null; seconds_left: number | null }
interface Item { id: string; position: number; text: string; reference: Picture; target: Picture; panel: Picture[] }
interface Question {
  id: string; position: number; number: number; of: number; form: number; forms: number; locked: boolean; text: string;
  reference: Picture; sets: Record<Side, Picture[]>; ask_reason: boolean;
}
/** A session: what was said about which image, turn by turn, and the image it was about. */
interface SessionItem { id: string; position: number; turns: { image: Picture; text: string }[]; target: Picture }
/** A query, and the candidates that may answer it. */
interface TargetItem { id: string; position: number; text: string; reference: Picture; candidates: Picture[] }
/** One of the next items: its pictures, and where it was asked for, itself. */
interface Ahead<I, A> { images: string[]; item?: I; draft?: { answer: A; seconds: number } | null }
/** `asked`: when the server was asked, in the page's milliseconds. */
interface DeskOf<I, A> {
  study: DeskStudy; joined: boolean; progress: Progress; item: I | null; answer: A | null; revision: number; seconds: number;
  draft: { answer: A; seconds: number } | null; ahead: Ahead<I, A>[]; gate?: Gate | null; handed_on?: number; asked?: number; training?: [number, number];
}
type ValidityDesk = DeskOf<Item, Validity>;
type SurveyDesk = DeskOf<Question, Preference>;
type SessionDesk = DeskOf<SessionItem, SessionRatings>;
type TargetDesk = DeskOf<TargetItem, TargetMarks>;
/** Where it does not matter which kind of study it is of. */
type Desk = DeskOf<{ id: string; position: number }, object>;
/** What the screen of a kind of study asks of the page. `here`: whether an item is shown; `leaving`: whether keys come too soon for what is shown next. */
interface ScreenActions {
  here(): boolean; changed(): void; save(): void; step(by: number): void; map(): void; discard(): void; retry(): void; leaving(): boolean;
}
/** The screen of a kind of study, and the answer on it. `begin`: from what is saved and a draft, if there is one; `replace`: by what is saved. */
interface ItemScreen<I, A> extends Part {
  title: HTMLElement; readonly answer: A;
  same(one: object, other: object): boolean; missing(): { at: string; text: string } | null; complain(lacks: { at: string; text: string } | null): void;
  begin(answer: A | null, draft: A | null, restored: boolean): void; replace(answer: A | null): void;
  open(item: I): void; show(what: { name: string; revision: number; restored: boolean; study: DeskStudy }): void; draw(unchanged: boolean): void;
  spoken(item: I): string; looked(seconds: number): void; accepting(study: DeskStudy): void; problem(text: string): void;
  sending(what: { state: string; text: string }): void;
}
/** Keys of a screen, as listed by "?"; `own`: those that can be changed. */
type ListedKeys = [shown: string, does: string, own?: string[]];
interface ScreenModule { keysOf(page: object): ListedKeys[]; createScreen(page: object, does: ScreenActions): ItemScreen<{ id: string; position: number }, object> }
interface Place { item: string; position: number; state: "open" | "done" | "unsure" | "handed_on"; draft: boolean; discussed?: boolean }
interface Saved { revision: number; repeated: boolean; overtook: boolean; unsure: boolean; feedback?: Feedback }
/** What is said of an answer in training, and at its end of all of them. */
interface Feedback { right: boolean; expected: string; note: string; verdict: string }

/** Which item of which study: what drafts and answers that are not sent yet are kept by. */
interface Of { study: string; item: string }
interface Draft<A> extends Of { answer: A; seconds: number; revision: number }
/** An answer as it is sent. */
interface Sent<A> extends Of { id?: string; answer: A; seconds: number; seen_revision: number; then: "next" | "stay"; token?: string; revision?: undefined }
interface Acknowledged<A> { saved: Saved; desk: DeskOf<never, A>; sent: Sent<A>; replaced: boolean; asked?: number }

// --- adjudication --------------------------------------------------------------------------------

type Why = "unsure" | "tie" | "split" | "flags" | "agreement";
/** `why`: null until one has answered it oneself. */
interface Case { item: string; number: number; why: Why | null; answered: boolean; decided: boolean }
interface JudgementOf<A> { label: string; answer: A; told: string; seconds: number }
type Judgement = JudgementOf<Validity>;
interface Decision { answer: object; reason: string; revision: number; by_you: boolean }
/** A message in a discussion. `label`: "You", "Adjudicator" or "Judge A". */
interface Said { label: string; text: string; at: string }
/** Of what others answered there is nothing while `first`, one's own answer, is null. */
interface OpenCase {
  item: { id: string; position: number; text?: string; reference?: Picture; target?: Picture }; number: number; decided: boolean; first: object | null;
  why?: Why | null; judgements?: JudgementOf<object>[]; judged_by_you?: boolean; decision?: Decision | null; discussed?: boolean; messages?: Said[];
}
/** Which items need a decision, and who discusses them. */
interface Needs { needs: ("unsure" | "tie" | "split")[]; below: number | null; discussion: "none" | "adjudicators" | "judges" }

// --- studies ---------------------------------------------------------------------------------------

/** How a kind of study calls things, and what it has. `groups`: names of the two ways to choose items; `options`: of its report; `undefined`: the statistic. */
interface KindWords {
  title: string; one: string; many: string; asks: string; undefined: string; groups: [string, string]; options: string[]; unsure: boolean; survey: boolean;
  plans: boolean; scored: string; score_type: string;
}
interface Counts { items: number; assignments: number; done: number; unsure: number; people: number; decisions: number }
interface SurveySettings {
  set_names: string[]; per_person: number | null; form_size: number; shared_every: number; shared_by: number; check: string; check_every: number;
  reason_every: number; allow_tie: boolean; consent: boolean;
}
interface Study {
  id: string; name: string; kind: Kind; words: KindWords; protocol: string; accepting: boolean; archived: boolean; created_at: string; created_by: string; seats: number;
  plan: { seats: number; overlap: number; agreement_items: number; seed: number; lease_hours: number; order: "random" | "table" | "disputed" }; counts: Counts; source: [string, string][];
  survey?: SurveySettings;
}
interface SeatProgress {
  seat: number; name: string | null; done: number; unsure: number; open: number; total: number; median_seconds: number | null; seen_at: string | null;
  away: boolean; finished_at: string | null; code: string | null;
}
interface OneStudy {
  study: Study; people: SeatProgress[]; queue: { open: number; decided: number }; needs: Needs; downloads: { form: string; what: string; type: string; table: string }[]; you_judge: boolean; guidelines: string;
  language: string; languages: Record<string, string>;
}
interface SubsetRow {
  dataset: string; audited_required: number; validated_solved: number; audited_unresolved: number; validated_unsolved: number; audited_other: number;
  validated_other: number; audited: number; validated: number; unlabelled: number; undecided: number; adjudicated: number; primary: Record<string, number>;
}
interface Counted { code: string; name: string; count: number; flag?: string }
interface Results { rule: string; rows: SubsetRow[]; total: SubsetRow; categories: { code: string; name: string }[]; reasons: Counted[]; flags: Counted[] }
interface SessionMeans {
  questions: { key: string; name: string; text: string }[];
  rows: { source: string; subset: string | null; sessions: number; rated: number; ratings: number; means: Record<string, number | null> }[];
}
interface TargetCounts {
  threshold: number;
  rows: {
    dataset: string | null; queries: number; marked: number; answers: number; yes: number; no: number; undecided: number; by_model: number; confirmed: number;
    missed: number; original: number; original_yes: number;
  }[];
}
interface Share { count: number; n: number; value: number | null; low: number | null; high: number | null; p: number | null }
interface PersonQuality {
  name: string; answers: number; checks: number | null; failed_checks: number | null; median_seconds: number | null; longest_run: number; contradictions: number;
  contradictable: number; first_side?: Share; agreement?: number | null; shared?: number; flagged?: number | null; left: number;
  gold: number | null; outcomes: number[];
}
interface Removal { answers: number | null; people: string[] }
/** Training and gold: annotation/quality/care.py. */
interface Care { training_mark: number; training_tries: number; mark: number; least: number; below: "nothing" | "train" | "end" }
interface Quality {
  people: PersonQuality[]; sides: Record<"first" | "first_when_equal" | "stored" | "stored_when_equal", Share>; rules: string[]; kept_rules: string[];
  care: Care; gold: { gold: number; training: number; ended: string[]; ready: number };
  removed: (Removal & { rule: string })[]; together: Removal & { answers: number }; answers: number; left: number;
}
interface MethodResult { method: string; rated: number; mean_rating: number; preferred: Share; ties: number }
interface PairResult {
  first: string; second: string; answers: number; first_preferred: Share; ties: number; mean_difference: number; first_led: number; second_led: number;
  first_leading: Share; second_leading: Share; adjusted: number | null; unadjusted: string;
}
interface Methods { methods: MethodResult[]; pairs: PairResult[] }
interface Forecast {
  hours_per_person: number; items_per_person: number; hours_total: number; judgements: number; rate_width: number; valid_rate: number;
  kappa_width: number | null; kappa: number; kappa_reason: string; doubly_judged: number; items: number;
}

// --- search ----------------------------------------------------------------------------------------

/** What the top panel says is shown. */
type ShownTurn = Partial<Record<"beat" | "session" | "turn" | "reference" | "gallery" | "problem" | "notice" | "loaded", string>>;
/** A result: web/templates/search/parts/tile.html. */
interface Tile extends HTMLElement {
  dataset: { image: string; rank: string; score: string; value: string; thumb: string; full: string; parts: string; touched?: string; signed?: string; thumbed?: string; others?: string;
    under?: string; similar?: string; opened?: string; x?: string; y?: string };
}
interface Drawn { action: string; failed: boolean }
/** `shape` has the last word on the values when they are sent. */
interface Change { [name: string]: unknown; shape?(values: object): object }

// --- analysis --------------------------------------------------------------------------------------

interface Listed { id: string; name: string; kind: Kind; words: KindWords; accepting: boolean; items: number; answered: number; people: number; planned: number; you_judge: boolean }
interface Headline {
  label: string; value: number | null; low: number | null; high: number | null; n: number | null; reason: string; kind: "share" | "count" | "number"; unit: string; note: string;
}
/** Two people by their seats, and what they were asked. */
interface Pair { a: number; b: number; key: string }
interface Figure { key: string; title: string; alt: string; spec: Spec; cells: Record<string, Pair> | null; note: string }
type Cell = string | number | null;
interface Column { key: string; name: string; kind: string }
interface Table { key: string; title: string; columns: Column[]; rows: Cell[][]; shown: string[][]; note: string; empty: string }
interface Section { key: string; title: string; intro: string; headlines: Headline[]; figures: Figure[]; tables: Table[] }
interface Choices { datasets: [string, number][]; categories: [string, number][]; people: { seat: number; name: string; judgements: number }[]; block: number }
interface Scores { name: string; description: string; notes: string[] }
interface About { study: string; protocol: string; planned: number; answered: number; latest: string | null; notes: string[]; options?: { seed: number; draws: number } }
interface Report {
  stamp: string; kind: Kind; accepting: boolean; about: About; choices: Choices; scores: Scores[]; sections: Section[];
  report: { rules?: Record<string, number | boolean | null> }; unchanged?: undefined;
}
interface Unchanged { unchanged: true; stamp: string }
interface Disputed {
  item: string; key: string; dataset: string; category: string; text: string; reference: string; target: string; answers: [string, string][]; decided: string | null;
}
interface ScoreRun { text: string; done: number; total: number; finished: boolean; problem: string }
/** What of a report is looked at: all of it stands in the address. `names`: whether they are hidden. */
interface View {
  study: string; datasets: string[]; categories: string[]; people: number[]; block: boolean; names: boolean; rules: string | null;
  draws: string; seed: string; undefined: string; resample: string; k: string; plan: string;
}

// --- benchmarks ------------------------------------------------------------------------------------

/** How far a construction is. `rate`: sessions a second; `here`: this server runs it. */
interface ConstructionRun {
  text: string; done: number; total: number; rate: number | null; here: boolean; stopping: boolean; running: boolean; resumable: boolean; why_not: string;
  problem: string; budget: number | null; max_calls: number | null; cost: number | null; calls: number;
}
interface Benchmark {
  name: string; kind: "sessions" | "targets"; state: "running" | "stopped" | "finished" | "unreadable"; problem: string; run: ConstructionRun | null; dataset: string; gallery: string;
  model: string; queries: number | null; sessions: number | null; subsets: string[]; changed: string | null;
}
interface OpenBenchmark extends Benchmark {
  sessions: number; failures: number; encoder: string; notes: string[]; gallery_problem: string; can_open: boolean; judged: number; k: number;
  dimensions: string[]; download_problem: string;
}
interface BenchmarkPicture { id: string; thumb: string; full: string }
interface BenchmarkTurn { image: BenchmarkPicture; text: string; rank: number | null; similarity: number | null; similar: number | null }
/** `key` is the same for as long as its content is; `number`, its place among all, changes while a construction runs. */
interface BenchmarkSession {
  key: string; number: number; id: string; subset: string; success: boolean; turns: BenchmarkTurn[]; targets: BenchmarkPicture[]; setback: number | null;
  similarity: number | null; dropped: { stage: string; number: number | null; why: string } | null;
  scores: { of: Record<string, number>; reason: string } | null;
}
interface WaterfallStage { stage: string; removed: number; left: number }
interface BenchmarkPage {
  total: number; all: number; waterfall: WaterfallStage[]; judged: number; means: Record<string, number>; sessions: BenchmarkSession[];
}
/** What of a benchmark is looked at: all of it is in the address. `page` from 1. */
interface BenchmarkView {
  name: string; epsilon: string; tau: string; threshold: string; subset: string; show: string; q: string; sort: string; order: string; page: number;
}
interface OpenTargets extends Benchmark {
  queries: number; failures: number; encoder: string; notes: string[]; gallery_problem: string; can_open: boolean; download_problem: string;
}
/** Where a candidate came from: `group` is SoFT's name, `confidence` that of this group. */
interface CandidatePlace { group: string; rank: number; confidence: number | null }
interface ScoredCandidate { image: BenchmarkPicture; confidence: number; original: boolean; reference: boolean; found: CandidatePlace[] }
/** `candidates`: the highest confidence first, `more` further ones are not sent; `confidences`: of all, the lowest first. */
interface TargetedQuery {
  key: string; number: number; id: string; subset: string; reference: BenchmarkPicture; text: string; sentences: string[]; original: BenchmarkPicture;
  original_confidence: number | null; candidates: ScoredCandidate[]; more: number; unscored: number; confidences: number[];
}
/** `and_more`: the last bar counts all queries with more targets too. */
interface TargetBar { targets: number; and_more: boolean; queries: number }
interface TargetPage {
  total: number; all: number; summary: { kept: number; targets: number; mean: number | null; rewritable: number; without_original: number };
  histogram: TargetBar[]; queries: TargetedQuery[];
}
interface ConstructionEstimate {
  sessions: number; calls: number; time: string; cost: number | null; basis: string; notes: string[]; model: string;
  roles: { role: string; calls: number; most: number; prompt_tokens: number; completion_tokens: number }[];
}
interface ConstructionChoices {
  datasets: { name: string; subsets: string[]; queries: number; problem: string }[]; galleries: { name: string; size: number }[]; models: string[];
  connected: string; priced: boolean; max_turns: number;
}

// What of plotly is used here.
interface Trace { type?: string; mode?: string; showscale?: boolean; z?: unknown[][]; colorscale?: string | [number, string][]; colorbar?: { title?: { text?: string } }; zmin?: number; zmax?: number }
interface Layout { height?: number; font?: object; hoverlabel?: object; [axis: string]: unknown }
interface Spec { data: Trace[]; layout?: Layout }
interface Point { pointNumber: number | number[] }
interface Plot extends HTMLElement { on(name: string, hears: (event: { points: Point[] }) => void): void }
interface Plotly {
  react(place: HTMLElement, data: Trace[], layout: Layout, config: object): Promise<unknown>;
  purge(place: HTMLElement): void;
  Plots: { resize(place: HTMLElement): void };
}
interface Window { Plotly: Plotly }

// --- participants without accounts ------------------------------------------------------------------

type RecruitingEnd = "complete" | "screened_out" | "over_quota" | "below_mark";
interface RecruitingQuestion { key: string; text: string; answers: string[]; accepts: string[] }
interface RecruitingQuota { where: Record<string, string>; most: number }
interface RecruitingSettings extends Record<RecruitingEnd, { text: string; code: string; url: string }> {
  open: boolean; title: string; parameter: string; consent: string; questions: RecruitingQuestion[]; quotas: RecruitingQuota[]; people: number; minutes: number; accounts: string[] | null; webhook: string;
}
interface WebhookCall {
  id: string; event: "begun" | "away" | "returned" | "finished" | "below-mark" | "screened-out" | "over-quota" | "test"; participant: string | null; attempts: number; at: string; next_at: string | null;
  delivered_at: string | null; problem: string;
}
interface ParticipantRow {
  id: string; annotator: string; state: "new" | "in" | "expired" | "finished" | "ended" | "screened-out" | "over-quota"; entered_at: string; minutes: number | null;
  done: number; total: number; code: string; payment: "open" | "approved" | "rejected"; reason: string;
}
interface Recruiting {
  path: string; settings: RecruitingSettings; parameters: string[]; planned: number; idle_minutes: number; accepting: boolean; participants: ParticipantRow[]; decided?: number;
  webhook: { secret: string; undelivered: number; calls: WebhookCall[] } | null;
}

// --- calls ---------------------------------------------------------------------------------------------

/** An encoder's weights: "url", "file", "encoder" and "there" are for admins. */
interface WeightsState {
  may: boolean; spec: string; megabytes: number; host: string; ready: boolean; running: boolean; done: number; total: number;
  problem: string; stopping: boolean; url: string; file: string; encoder?: string; there?: boolean;
}
/** A long job, and its log if that was asked for. */
interface Job {
  id: string; kind: string; command: string; by: string; screen: boolean; state: "running" | "stopped" | "failed" | "interrupted" | "done"; stopping: boolean; stage: string; done: number;
  total: number; rate: number | null; left: string; error: string; began: string; alive: string; resumable: boolean; resumes: boolean; log: string[] | null;
}
/** Of guidelines: a text, or an element. */
type GuideNode = string | { tag: string; children?: GuideNode[]; href?: string; src?: string; alt?: string };
/** A study that is being made: what is uploaded, what its table is, and its first items. */
type DraftPart = "table" | "pictures" | "guidelines" | "judgements";
type DraftFiles = Record<DraftPart, { name: string; bytes: number }[]>;
interface NewKind {
  kind: Kind; title: string; one: string; many: string; about: string;
  fields: { name: string; title: string; required: boolean; many: boolean; least: number }[];
  design: { name: string; title: string; value: number; least: number; most: number; explained: string; choices: string[] }[];
  asks: string; protocol: string; earlier: { study: string; protocol: string }[];
}
/** A file of questions of one's own; `own`: whether the study asks it. */
interface DraftQuestions { own: boolean; text: string }
interface CheckedQuestions { problem?: string; line?: number | null; protocol: string; page: object }
interface DraftTable { file: string; names: string[]; rows: number; notes: string[]; head: string[][]; kind: Kind | null; columns: Record<string, Record<string, string[]>> }
interface DraftForecast {
  problem?: string; people: number; hours_per_person: number; hours_total: number; items_per_person?: number; per_person?: number; judgements?: number;
  answers?: number; pairs?: number;
}
interface ImportedJudgements { name: string; title: string; one: string; many: string; items: number; people: number; judgements: number; notes: string[] }
interface DraftLook { items: number; counts: Record<string, number>; notes: string[]; forecast: DraftForecast; page: object; desks: Desk[] }
interface Answers {
  "studies/new/choices": { kinds: NewKind[]; galleries: { name: string; size: number }[]; sources: { key: string; kind: string; title: string; gallery: string }[]; most_mb: number }; "studies/new/begin": { draft: string };
  "studies/new/files": DraftFiles; "studies/new/drop": DraftFiles; "studies/new/table": DraftTable; "studies/new/look": DraftLook; "studies/new/plan": DraftForecast;
  "studies/new/questions": { text: string }; "studies/new/check": CheckedQuestions; "studies/new/guide": { nodes: GuideNode[] }; "studies/new/create": { name: string; items: number; notes: string[] };
  "studies/new/judgements": ImportedJudgements; "studies/new/import": ImportedJudgements;
  "jobs/all": { jobs: Job[]; may_index: boolean }; "jobs/stop": { stopping: boolean }; "jobs/resume": { id: string }; "jobs/forget": { id: string }; "jobs/index": { id: string };
  "jobs/choices": { folders: string[]; encoders: string[]; usual: string; galleries: string[] };
  "weights": WeightsState; "weights/fetch": WeightsState; "weights/stop": WeightsState;
  "me": Me; "sign-out": unknown;
  "people/all": People; "log/acts": Acts;
  "study/mine": { studies: { name: string; kind: Kind; accepting: boolean; joined: boolean; done: number; total: number }[] };
  "study/rubric": Rubric | Survey | SessionPage | TargetPage; "study/at": ValidityDesk | SurveyDesk | SessionDesk | TargetDesk; "study/join": ValidityDesk | SurveyDesk | SessionDesk | TargetDesk; "study/overview": { places: Place[] }; "study/discussion": { messages: Said[] }; "study/say": { messages: Said[] };
  "study/save": { saved: Saved; desk: ValidityDesk | SurveyDesk | SessionDesk | TargetDesk }; "study/gate": { passed: boolean; desk: SurveyDesk }; "study/draft": { kept: boolean };
  "study/more": { added: number; desk: ValidityDesk | SurveyDesk | SessionDesk | TargetDesk };
  "adjudicate/studies": { studies: { name: string; accepting: boolean; done: number; decisions: number }[] }; "adjudicate/queue": { cases: Case[]; kind: Kind };
  "adjudicate/case": OpenCase; "adjudicate/answer": OpenCase; "adjudicate/say": { messages: Said[] }; "adjudicate/needs": { needs: Needs }; "adjudicate/decide": { decision: Decision; overtook: boolean };
  "studies/all": { studies: Study[] }; "studies/one": OneStudy; "studies/counts": { counts: Counts; accepting: boolean }; "studies/results": Results; "studies/ratings": SessionMeans; "studies/targets": TargetCounts;
  "studies/plan": Forecast; "studies/sample": { name: string }; "studies/quality": Quality; "studies/methods": Methods;
  "studies/recruitment": Recruiting; "studies/recruit": Recruiting; "studies/pay": Recruiting; "studies/test": { path: string }; "studies/test-end": { ended: boolean };
  "studies/webhook-test": Recruiting; "studies/webhook-again": Recruiting;
  "studies/rename": { study: Study }; "studies/duplicate": { study: Study }; "studies/archive": { study: Study }; "studies/remove": { backup: string }; "studies/guide": { nodes: GuideNode[] }; "studies/language": { language: string };
  "studies/close": { study: Study }; "studies/open": { study: Study }; "studies/rules": unknown; "studies/gold": { gold: number; training: number; dealt: number };
  "studies/release": { released: number; block: number; freed: boolean };
  "analysis/studies": { studies: Listed[] }; "analysis/report": Report | Unchanged; "analysis/disputed": { total: number; study: string; items: Disputed[] };
  "analysis/scores": unknown; "analysis/scores/compute": { run: string }; "analysis/scores/drop": unknown; "analysis/scores/run": ScoreRun;
  "analysis/scores/choices": {
    galleries: { name: string; size: number }[]; methods: { name: string; title: string }[]; gallery: string | null; name_limit: number;
    cirqrs: { problem: string };
  };
  "benchmarks/all": { benchmarks: Benchmark[]; starting: { name: string; run: ConstructionRun } | null };
  "benchmarks/sessions": { about: OpenBenchmark; page: BenchmarkPage }; "benchmarks/open": { session: string };
  "benchmarks/targets": { about: OpenTargets; page: TargetPage }; "benchmarks/run": { kind: Benchmark["kind"]; state: Benchmark["state"]; run: ConstructionRun | null }; "benchmarks/choices": ConstructionChoices;
  "benchmarks/estimate": ConstructionEstimate; "benchmarks/start": { name: string }; "benchmarks/resume": { name: string };
  "benchmarks/stop": { stopping: boolean };
}
/** What the server answers at a path, with or without a query. */
type AnswerOf<Path extends string> = Path extends `${infer Bare}?${string}` ? AnswerOf<Bare>
  : Path extends keyof Answers ? Answers[Path] : Path extends `people/${string}` ? People : unknown;
/** `ask: false`: no sign-in in between. `patience` in milliseconds. `news`: a look at what others have done. */
interface CallOptions { ask?: boolean; keepalive?: boolean; patience?: number; signal?: AbortSignal | null; news?: boolean }
