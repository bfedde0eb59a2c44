import { failed, type Outcome } from '../../outcome.ts'
import { type Fetching, fetchHome } from '../web/page-fetch.ts'
import { readPage, type ReadPage } from '../web/read-page.ts'
import { readSite } from '../web/site.ts'
import { pagesAbout, readPages, TOPICS } from '../web/useful-pages.ts'
import { fetchJobs, type JobOpening } from './board.ts'
import { type BoardName, BOARDS, findBoards } from './detection.ts'

const MAX_PAGES = 3
const MAX_BOARDS = 3
const PARTS = ['boards', 'postings'] as const

const boardsOf = ({ boards }: ReadPage<'boards'>): BoardName[] =>
  boards.flatMap(({ board: id, company }) => {
    const board = BOARDS.find((known) => known.id === id)
    return board === undefined ? [] : [{ board, company }]
  })

/**
 * Finds the openings of the company at a domain: those of the board that its pages point to, else those that its pages
 * describe.
 */
export async function findOpenings(
  context: Fetching,
  domain: string,
): Promise<JobOpening[] | Outcome<never>> {
  const site = readSite(domain)
  if (site === null) return failed(`domain: "${domain.slice(0, 100)}" names no website`)
  const result = await fetchHome(context, site.homes)
  if (!result.ok) return result.outcome
  const read = await readPage(context, result.page, PARTS)
  if (!read.ok) return failed(read.message)
  const atHome = boardsOf(read.page)
  const asked = await askBoards(context, atHome)
  if (asked !== null) return asked
  const pages = [
    read.page,
    ...(await readPages(context, careerPages(read.page), { most: MAX_PAGES, parts: PARTS })),
  ]
  const isNew = ({ board, company }: BoardName) =>
    !atHome.some((known) => known.board === board && known.company === company)
  const onCareers = await askBoards(context, pages.flatMap(boardsOf).filter(isNew))
  if (onCareers !== null) return onCareers
  const postings = pages.flatMap((page) => page.postings)
  const unique = new Map(postings.map((job) => [`${job.title} ${job.location} ${job.url}`, job]))
  return unique.size > 0 ? [...unique.values()] : { kind: 'no_match' }
}

/** Returns the links about careers, on the site or on a separate host, else the usual addresses. */
function careerPages(home: ReadPage): URL[] {
  const linked = pagesAbout('careers', home)
  const elsewhere = home.links
    .filter(
      ({ url, text }) => text.length < 60 && TOPICS.careers.test(text) && findBoards(url.href).length === 0,
    )
    .map(({ url }) => url)
  const found = [...new Map([...linked, ...elsewhere].map((url) => [url.href, url])).values()]
  return found.length > 0 ? found : ['/careers', '/jobs'].map((path) => new URL(path, home.url))
}

/**
 * Fetches the openings from the boards. Returns null if none of the boards exists, because a page may link to an
 * abandoned one.
 */
async function askBoards(
  context: Fetching,
  boards: readonly BoardName[],
): Promise<JobOpening[] | Outcome<never> | null> {
  let known = false
  const jobs: JobOpening[] = []
  for (const { board, company } of boards.slice(0, MAX_BOARDS)) {
    const reply = await fetchJobs(context, board, company)
    if (reply.kind === 'failed') return reply.outcome
    if (reply.kind === 'no_such_board') continue
    known = true
    jobs.push(...reply.jobs)
  }
  return known ? jobs : null
}
