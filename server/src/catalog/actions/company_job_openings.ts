import { compareTexts } from '../../lib/plain-text.ts'
import { hasText } from '../../lib/search.ts'
import { fetchJobs, type JobOpening } from '../built-in/boards/board.ts'
import { BOARDS, readBoardName } from '../built-in/boards/detection.ts'
import { findOpenings } from '../built-in/boards/site-openings.ts'
import { readSite } from '../built-in/web/site.ts'
import { type ActionContext, defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, type Outcome } from '../outcome.ts'
import { output } from '../outputs.ts'
import { toOutcome } from '../provider/ask-in-order.ts'
import { bareHost } from '../questions/person-input.ts'
import { searchOpenings } from '../waterfalls/openings.ts'

const MAX_JOBS = 500
/** The limit in characters: each word is searched for in the text of each opening. */
const MAX_KEYWORDS = 1000
const NOTHING: Outcome<never> = { kind: 'no_match' }
const NAMES = [...new Set(BOARDS.map(({ name }) => name))].join(', ')

export default defineAction({
  id: 'company_job_openings',
  name: 'Company job openings',
  description:
    'Lists the job openings of a company from its job board (Greenhouse, Lever, Ashby, SmartRecruiters, Recruitee) or its own pages. If neither has any, from TheirStack where there is a key for it.',
  category: 'companies',
  synonyms: ['jobs', 'hiring', 'careers', 'vacancies', 'open roles', 'greenhouse', 'lever', 'ashby'],
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({
      label: 'Company domain',
      help: 'The website of the company.',
      placeholder: 'acme.com',
    }),
    board: field.text({
      label: 'Job board',
      help: "The company's job board, if you know it. Used instead of the domain.",
      placeholder: 'greenhouse:acme',
      details: 'Takes `greenhouse:acme` or the address of the board.',
      advanced: true,
    }),
    keywords: field.text({
      label: 'Keywords',
      help: 'Only openings with one of these words in title, department or text. Separate with commas.',
      placeholder: 'engineer, data',
    }),
  },
  needs: [['domain'], ['board']],
  outputs: {
    count: output.number('The number of openings.'),
    jobs: output.table('The openings, newest first.', {
      title: 'string',
      location: 'string',
      department: 'string',
      employment_type: 'string',
      remote: 'boolean',
      url: 'url',
      posted_at: 'string',
      source: 'string',
    }),
  },
  async run({ inputs, context }) {
    if ((inputs.keywords?.length ?? 0) > MAX_KEYWORDS)
      return failed(`keywords: must have at most ${MAX_KEYWORDS} characters`)
    if (inputs.board === undefined) {
      const { domain = '', keywords } = inputs
      // A state means that the site was already read and TheirStack is working.
      const found = context.state === undefined ? await findOpenings(context, domain) : NOTHING
      if (Array.isArray(found)) return answer(found, keywords)
      const isFinal = found.kind === 'no_match' || found.kind === 'failed'
      return isFinal && readSite(domain) !== null ? searchElsewhere(context, domain, keywords, found) : found
    }
    const named = readBoardName(inputs.board)
    if (named === null) {
      const given = inputs.board.slice(0, 100)
      return failed(`board: "${given}" is no board; write it like greenhouse:acme. There are: ${NAMES}`)
    }
    const reply = await fetchJobs(context, named.board, named.company)
    if (reply.kind === 'failed') return reply.outcome
    if (reply.kind === 'no_such_board')
      return failed(`${named.board.name} has no board ${named.company.slice(0, 100)}`)
    return answer(reply.jobs, inputs.keywords)
  },
})

/** Searches TheirStack. The earlier outcome counts if TheirStack has nothing either. */
async function searchElsewhere(
  context: ActionContext,
  domain: string,
  keywords: string | undefined,
  before: Outcome<never>,
): Promise<Outcome<{ count: number; jobs: Omit<JobOpening, 'text'>[] }>> {
  const result = await searchOpenings(context, bareHost(domain), splitKeywords(keywords))
  if (result === null || (result.kind === 'none' && before.kind === 'failed')) return before
  return toOutcome(result, ({ value: { count, jobs }, provider }) => ({
    count,
    jobs: jobs.map((job) => ({ ...job, employment_type: null, remote: null, source: provider })),
  }))
}

function splitKeywords(keywords: string | undefined): string[] {
  return (keywords ?? '')
    .toLowerCase()
    .split(/[,\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function answer(all: readonly JobOpening[], keywords: string | undefined) {
  const wanted = splitKeywords(keywords)
  const fits = ({ title, department, text }: JobOpening) => {
    const words = `${title} ${department ?? ''} ${text}`.toLowerCase()
    return wanted.length === 0 || wanted.some((word) => hasText(words, word))
  }
  const jobs = all
    .filter(fits)
    .sort((a, b) => compareTexts(b.posted_at ?? '', a.posted_at ?? ''))
    .map(({ text: _text, ...job }) => job)
  return done({ count: jobs.length, jobs: jobs.slice(0, MAX_JOBS) })
}
