import type { z } from 'zod'
import { readRetryAfter } from '../../http/reply.ts'
import { failed, type Outcome, retry } from '../../outcome.ts'
import type { Fetching } from '../web/page-fetch.ts'
import { USER_AGENT } from '../web/robots.ts'

export type JobOpening = {
  title: string
  location: string | null
  department: string | null
  employment_type: string | null
  remote: boolean | null
  url: string | null
  posted_at: string | null
  source: string
  /** The text for the search by keywords. It is not an output. */
  text: string
}

/** A job board, as its public API presents it. */
export type Board = {
  id: string
  name: string
  /**
   * The address of the API, unless `LOAM_PROVIDER_URL_<ID>` sets another. `{company}` in it stands for the company's
   * name.
   */
  baseUrl: string
  path(company: string, page: number): string
  /**
   * Returns the openings of one reply, and whether more pages follow. Never throws. Returns null if the reply is not from
   * this board.
   */
  read(body: unknown, company: string, page: number): { jobs: JobOpening[]; more: boolean } | null
  /** Match the company's name in an address of the board, or in a page that embeds the board. */
  signs: readonly RegExp[]
}

export type BoardAnswer =
  | { kind: 'jobs'; jobs: JobOpening[] }
  | { kind: 'no_such_board' }
  | { kind: 'failed'; outcome: Outcome<never> }

const MAX_PAGES = 10

/** Creates the `read` function of a board, which validates the reply by a schema. */
export function reader<Schema extends z.ZodType>(
  schema: Schema,
  read: (reply: z.infer<Schema>, company: string, page: number) => { jobs: JobOpening[]; more?: boolean },
): Board['read'] {
  return (body, company, page) => {
    const parsed = schema.safeParse(body)
    return parsed.success ? { more: false, ...read(parsed.data, company, page) } : null
  }
}

/** Fetches all openings that a company has on a board. */
export async function fetchJobs(
  { egress, signal, now }: Fetching,
  board: Board,
  company: string,
): Promise<BoardAnswer> {
  const base = egress.baseUrl(board.id, board.baseUrl).replaceAll('{company}', encodeURIComponent(company))
  const jobs: JobOpening[] = []
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const reply = await egress.fetch({
      url: base + board.path(encodeURIComponent(company), page),
      headers: { accept: 'application/json', 'user-agent': USER_AGENT },
      timeoutMs: 20_000,
      signal,
    })
    if (!reply.ok) return stop(reply.retryable ? retry(reply.message) : failed(reply.message))
    const { status } = reply
    if (status === 404 || status === 410) return { kind: 'no_such_board' }
    if (status === 429 || status >= 500)
      return stop(
        retry(`${board.name} answers HTTP ${status}`, readRetryAfter(reply.header('retry-after'), now())),
      )
    if (status >= 300) return stop(failed(`${board.name} answers HTTP ${status} about the board ${company}`))
    const json = await reply.json()
    const read = json.ok ? board.read(json.value, company, page) : null
    if (read === null) return stop(failed(`${board.name} answered something that is not a list of openings`))
    jobs.push(...read.jobs)
    if (!read.more || read.jobs.length === 0) break
  }
  return { kind: 'jobs', jobs }
}

const stop = (outcome: Outcome<never>): BoardAnswer => ({ kind: 'failed', outcome })

/** Converts a date of a board to ISO 8601, or returns null if it is no date. */
export function isoDate(value: string | number | null | undefined): string | null {
  if (value === null || value === undefined || value === '') return null
  const text =
    typeof value === 'string' ? value.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/, '$1T$2Z') : value
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

/** Converts HTML to plain words for the search. */
export const plain = (html: string | null | undefined): string =>
  (html ?? '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/<[^<>]{0,500}>/g, ' ')
