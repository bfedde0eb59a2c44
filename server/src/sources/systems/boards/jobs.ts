import { z } from 'zod'
import { fetchJobs, type JobOpening } from '../../../catalog/built-in/boards/board.ts'
import { BOARDS, readBoardName } from '../../../catalog/built-in/boards/detection.ts'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import { builtIn } from '../../../catalog/providers/built_in/provider.ts'
import { hasText } from '../../../lib/search.ts'
import { definePull, type PullArgs } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { hiringCompanies } from '../theirstack/companies.ts'
import { jobs } from '../theirstack/jobs.ts'

const NAMES = [...new Set(BOARDS.map(({ name }) => name))].join(', ')
const State = z.object({ board: z.int().min(0) })
type Wanted = {
  boards?: string[] | undefined
  job_titles?: string[] | undefined
  posted_within_days?: number | undefined
}

/** Reads the openings of the current board, one board per page. It costs nothing, because boards are public. */
async function readBoard({ body, state, context }: PullArgs<Wanted, z.output<typeof State>>) {
  const { boards = [] } = body
  if (boards.length === 0) return refuse(NO_BOARDS)
  const place = state?.board ?? 0
  const given = boards[place] ?? ''
  const named = readBoardName(given)
  if (named === null)
    return refuse(
      `boards[${place}]: "${given.slice(0, 100)}" is not a job board; write it like greenhouse:acme. Known boards: ${NAMES}`,
    )
  const reply = await fetchJobs(context, named.board, named.company)
  if (reply.kind === 'failed') return toRefusal(reply.outcome)
  const found = reply.kind === 'jobs' ? reply.jobs : []
  const next = place + 1 < boards.length ? { board: place + 1 } : null
  return { openings: found.filter((job) => isWanted(job, body, context.now())), company: named.company, next }
}

const NO_BOARDS =
  'name the boards to read (boards: ["greenhouse:acme"]), or connect TheirStack to search all of them: run `loam connection add --provider theirstack` or set LOAM_PROVIDER_KEY_THEIRSTACK'

const refuse = (message: string): Refusal => ({ kind: 'ineligible', message })

function toRefusal(outcome: { kind: string; message?: string; afterMs?: number }): Refusal {
  const message = outcome.message ?? 'the board could not be read'
  return { kind: 'error', message, transient: outcome.kind === 'retry' }
}

function isWanted(
  { title, posted_at }: JobOpening,
  { job_titles, posted_within_days }: Wanted,
  now: Date,
): boolean {
  const words = title.toLowerCase()
  const fits = job_titles === undefined || job_titles.some((wanted) => hasText(words, wanted.toLowerCase()))
  if (posted_within_days === undefined || posted_at === null) return fits
  return fits && now.getTime() - Date.parse(posted_at) <= posted_within_days * 86_400_000
}

export const boardJobs = definePull(jobs, builtIn, {
  price: 0,
  state: State,
  async pull(args) {
    const page = await readBoard(args)
    if ('kind' in page) return page
    const records = page.openings.map(({ title, location, url, posted_at }) => {
      const row = { title, company: page.company, domain: null, location, url, posted_at, salary: null }
      return { key: url ?? contentKey(row, 'company', 'title', 'location'), row }
    })
    return { records, next: page.next }
  },
})

export const boardHiring = definePull(hiringCompanies, builtIn, {
  price: 0,
  state: State,
  async pull(args) {
    const page = await readBoard(args)
    if ('kind' in page) return page
    const dates = page.openings.flatMap(({ posted_at }) => posted_at ?? []).sort()
    const row = {
      name: page.company,
      domain: null,
      industry: null,
      employees: null,
      country: null,
      linkedin_url: null,
      open_roles: page.openings.length,
      latest_posting: dates.at(-1) ?? null,
    }
    return {
      records: page.openings.length === 0 ? [] : [{ key: `board ${page.company}`, row }],
      next: page.next,
    }
  },
})
