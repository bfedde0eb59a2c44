import { fromJsonSchema } from '../models/answer-schema.ts'
import { askObject, type ModelContext } from '../models/ask-model.ts'
import type { ModelQuestion } from '../models/model-question.ts'
import type { Model } from '../models/models.ts'
import type { Outcome, Provenance } from '../outcome.ts'
import { Findings, readFindings } from './findings.ts'
import { ANSWER_RULES, attribute, markText, printTask } from './instructions.ts'
import type { AgentPage } from './page-reader.ts'
import { choosePassages } from './passages.ts'
import { holdsValue, occursIn, plain } from './quotes.ts'
import {
  type AgentAnswer,
  type AgentTask,
  type Citation,
  type FieldFinding,
  schemaOfFindings,
} from './task.ts'
import { siteOf } from './url-guard.ts'

export type Written =
  | { ok: true; answer: AgentAnswer; calls: Provenance[] }
  | { ok: false; outcome: Outcome<never> }

/** The number of characters of pages that the last pass sees in all. The pages share them equally. */
const MAX_EVIDENCE = 48_000
const MAX_CITATIONS = 3

/**
 * Runs the last pass, without tools: asks the model for the values, each with its quotes. A value that no quote supports
 * becomes null.
 */
export async function writeAnswer(
  parts: { model: Model; task: AgentTask; pages: readonly AgentPage[]; summary: string },
  context: ModelContext,
): Promise<Written> {
  const { model, task, pages, summary } = parts
  if (pages.length === 0) return { ok: true, answer: answerNothing(task, NOTHING_READ), calls: [] }
  const urls = pages.map(({ url }) => url)
  const schema = {
    ...fromJsonSchema(schemaOfFindings(task.fields)),
    read: (answer: unknown) => readFindings(answer, task.fields, urls),
  }
  const question: ModelQuestion = {
    model,
    instructions: `${ANSWER_RULES}\n\nIt must fit this JSON schema:\n${JSON.stringify(schema.told)}`,
    task: printTask(task),
    data: `${printPages(task, pages)}\n\nNotes of the research, which may be wrong:\n${summary.slice(0, 4000)}`,
  }
  const asked = await askObject(question, schema, context)
  if (!asked.ok) return asked
  // askObject returns long numbers as objects that keep their digits. The round trip through JSON makes them plain
  // numbers.
  const findings = Findings.parse(JSON.parse(JSON.stringify(asked.value)))
  return { ok: true, answer: checkFindings(task, pages, findings), calls: asked.calls }
}

const NOTHING_READ = 'no page could be read'
const UNSUPPORTED = 'no page that was read supports a value'

function printPages(task: AgentTask, pages: readonly AgentPage[]): string {
  const lookingFor = [
    task.mission,
    ...task.fields.map(({ name, description }) => `${name} ${description}`),
  ].join(' ')
  const share = Math.floor(MAX_EVIDENCE / pages.length)
  return pages
    .map(({ url, title, text }, n) => {
      const attributes = ` number="${n + 1}" url="${attribute(url)}" title="${attribute(title ?? '')}"`
      return markText('page', attributes, choosePassages(text, lookingFor, share))
    })
    .join('\n\n')
}

/** Keeps only the values whose quotes this program has itself found on a page. */
function checkFindings(task: AgentTask, pages: readonly AgentPage[], findings: Findings): AgentAnswer {
  const texts = pages.map(({ text, title }) => plain(`${title ?? ''}\n${text}`))
  const answer: AgentAnswer = { data: {}, citations: [], findings: {} }
  for (const { name } of task.fields) {
    const found = findings[name]
    const sources = (found?.sources ?? []).flatMap(({ page, quote }): (Citation & { host: string })[] => {
      const read = pages[page - 1]
      const text = texts[page - 1]
      if (read === undefined || text === undefined || !occursIn(plain(quote), text)) return []
      const { url, title } = read
      return [{ url, title, quote: quote.trim(), field: name, host: siteOf(new URL(url)) }]
    })
    const value = sources.length === 0 || found === undefined ? null : (found.value ?? null)
    answer.data[name] = value
    answer.findings[name] = value === null ? nothing(found?.reason) : weigh(value, sources)
    if (value === null) continue
    const cited = sources
      .slice(0, MAX_CITATIONS)
      .map(({ url, title, quote, field }) => ({ url, title, quote, field }))
    answer.citations.push(...cited)
  }
  return answer
}

function nothing(reason: string | null | undefined): FieldFinding {
  return { confidence: 0, hosts: [], reason: reason?.trim() || UNSUPPORTED }
}

/**
 * Computes the confidence in a value. One site is a claim, and each further site that agrees raises the confidence. A
 * quote that contains the value itself counts for more.
 */
function weigh(value: unknown, sources: readonly { host: string; quote: string }[]): FieldFinding {
  const hosts = [...new Set(sources.map(({ host }) => host))]
  const isLiteral = typeof value === 'boolean' || sources.some(({ quote }) => holdsValue(quote, value))
  const confidence = 1 - 0.4 / hosts.length - (isLiteral ? 0 : 0.2)
  return { confidence: Math.round(confidence * 100) / 100, hosts, reason: null }
}

function answerNothing(task: AgentTask, reason: string): AgentAnswer {
  return {
    data: Object.fromEntries(task.fields.map(({ name }) => [name, null])),
    citations: [],
    findings: Object.fromEntries(task.fields.map(({ name }) => [name, nothing(reason)])),
  }
}
