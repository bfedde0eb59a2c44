import type { Citation } from '#server/catalog/agent/task.ts'
import { median } from '../parts/report.ts'
import type { Attempt } from './contestants.ts'
import type { ServedWorld } from './world-server.ts'
import type { Question } from './world.ts'

export type Mark = {
  question: Question
  attempt: Attempt
  verdict: 'right' | 'wrong' | 'no answer' | 'abstained' | 'made up'
  citations: number
  validCitations: number
}

/** Marks an attempt by the facts of the world and by the pages that its server sent. */
export function markAttempt(world: ServedWorld, question: Question, attempt: Attempt): Mark {
  const { citations } = attempt
  return {
    question,
    attempt,
    verdict: judge(question.truth, attempt),
    citations: citations.length,
    validCitations: citations.filter((citation) => isValid(world, citation)).length,
  }
}

function judge(truth: Question['truth'], { value, failure }: Attempt): Mark['verdict'] {
  if (truth === null) return value !== null ? 'made up' : failure === null ? 'abstained' : 'no answer'
  if (value === null || value === undefined) return 'no answer'
  return simplify(JSON.stringify(value)) === simplify(JSON.stringify(truth)) ? 'right' : 'wrong'
}

/** Returns true if the page was really sent and the quote is in the text that people see there. */
function isValid({ pages, served }: ServedWorld, { url, quote }: Citation): boolean {
  const parsed = URL.parse(url)
  const address = `${parsed?.hostname}${parsed?.pathname}${parsed?.search}`
  const shown = pages.get(address)?.shown
  return shown !== undefined && served.has(address) && simplify(shown).includes(simplify(quote))
}

const simplify = (text: string): string =>
  text
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join(' ') ?? ''

export type Score = {
  questions: number
  /** The share of the questions with an answer that were answered correctly. */
  exact: number
  wrong: number
  /** The share of the questions without an answer that were left unanswered. */
  abstained: number
  validCitations: number
  citations: number
  pages: number
  searches: number
  tokens: number
  ms: number
  failures: number
}

export function sumUp(marks: readonly Mark[]): Score {
  const known = marks.filter(({ question }) => question.truth !== null)
  const unknown = marks.filter(({ question }) => question.truth === null)
  const count = (verdict: Mark['verdict']) => marks.filter((mark) => mark.verdict === verdict).length
  const sum = (of: (mark: Mark) => number) => marks.reduce((total, mark) => total + of(mark), 0)
  const mean = (of: (mark: Mark) => number) => sum(of) / Math.max(1, marks.length)
  return {
    questions: marks.length,
    exact: count('right') / Math.max(1, known.length),
    wrong: count('wrong') + count('made up'),
    abstained: count('abstained') / Math.max(1, unknown.length),
    citations: sum(({ citations }) => citations),
    validCitations: sum(({ validCitations }) => validCitations),
    pages: mean(({ attempt }) => attempt.pages),
    searches: mean(({ attempt }) => attempt.searches),
    tokens: mean(({ attempt }) => attempt.tokens),
    ms: median(marks.map(({ attempt }) => attempt.ms)),
    failures: marks.filter(({ attempt }) => attempt.failure !== null).length,
  }
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

/** Returns a score as a row of the table. */
export function printScore(name: string, score: Score): Record<string, unknown> {
  return {
    what: name,
    questions: score.questions,
    exact: percent(score.exact),
    abstains: percent(score.abstained),
    wrong: score.wrong,
    'citations valid': `${score.validCitations} of ${score.citations}`,
    pages: score.pages.toFixed(2),
    searches: score.searches.toFixed(2),
    tokens: Math.round(score.tokens),
    'ms (median)': Math.round(score.ms),
    failed: score.failures,
  }
}
