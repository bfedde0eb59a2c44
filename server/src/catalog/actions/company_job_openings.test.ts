import { describe, expect, it } from 'vitest'
import { findBoards, readBoardName } from '../built-in/boards/detection.ts'
import { useActions } from '../testing/run-action.ts'
import { serveSite } from '../testing/site-server.ts'
import { type Reply, serveBoard } from '../testing/sites/board.ts'
import { careers, ownPostings } from '../testing/sites/careers.ts'

const runAction = useActions()

const GREENHOUSE = {
  jobs: [
    {
      id: 1,
      title: 'Backend Engineer ',
      absolute_url: 'https://boards.greenhouse.io/acmeinc/jobs/1',
      updated_at: '2026-11-01T10:00:00-05:00',
      first_published: '2026-10-01T10:00:00-05:00',
      location: { name: 'Remote, Germany' },
      departments: [{ id: 9, name: 'Engineering' }],
      content: '&lt;p&gt;We use PostgreSQL.&lt;/p&gt;',
      metadata: null,
    },
    {
      id: 2,
      title: 'Sales Lead',
      absolute_url: 'https://boards.greenhouse.io/acmeinc/jobs/2',
      updated_at: '2026-11-05T10:00:00-05:00',
      location: { name: 'Berlin' },
      departments: [],
    },
  ],
  meta: { total: 2 },
}
const LEVER = [
  {
    id: 'a',
    text: 'Designer',
    hostedUrl: 'https://jobs.lever.co/acme/a',
    createdAt: 1_793_491_200_000,
    workplaceType: 'hybrid',
    categories: { location: 'Paris', team: 'Brand', commitment: 'Full-time' },
    descriptionPlain: 'Figma all day',
  },
]
const ASHBY = {
  apiVersion: '1',
  jobs: [
    {
      title: 'Researcher',
      location: 'London',
      department: 'Science',
      team: 'ML',
      employmentType: 'FullTime',
      isRemote: true,
      isListed: true,
      publishedAt: '2026-11-03T00:00:00.000+00:00',
      jobUrl: 'https://jobs.ashbyhq.com/Acme%20Labs/1',
    },
    { title: 'Secret', isListed: false },
  ],
}
const RECRUITEE = {
  offers: [
    {
      id: 3,
      title: 'Cook',
      city: 'Ghent',
      country: 'Belgium',
      location: null,
      department: 'Kitchen',
      employment_type_code: 'fulltime',
      remote: false,
      careers_url: 'https://acme-jobs.recruitee.com/o/cook',
      published_at: '2026-11-04 08:30:00 UTC',
      description: '<b>Soup</b>',
    },
  ],
}
const posting = (n: number) => ({
  id: String(n),
  name: `Role ${n}`,
  releasedDate: '2026-11-01T00:00:00.000Z',
  location: { city: 'Kraków', region: null, country: 'pl', remote: false },
  department: { label: 'Ops' },
  typeOfEmployment: { label: 'Permanent' },
  company: { identifier: 'AcmeCorp1' },
})

describe('company_job_openings finds the board that a website uses', () => {
  it.each<[string, string, unknown, object[]]>([
    [
      'greenhouse',
      '/v1/boards/acmeinc/jobs?content=true',
      GREENHOUSE,
      [
        {
          title: 'Sales Lead',
          location: 'Berlin',
          department: null,
          employment_type: null,
          remote: null,
          url: 'https://boards.greenhouse.io/acmeinc/jobs/2',
          posted_at: '2026-11-05T15:00:00.000Z',
          source: 'Greenhouse',
        },
        {
          title: 'Backend Engineer',
          location: 'Remote, Germany',
          department: 'Engineering',
          employment_type: null,
          remote: true,
          url: 'https://boards.greenhouse.io/acmeinc/jobs/1',
          posted_at: '2026-10-01T15:00:00.000Z',
          source: 'Greenhouse',
        },
      ],
    ],
    [
      'lever',
      '/v0/postings/acme?mode=json',
      LEVER,
      [
        {
          title: 'Designer',
          location: 'Paris',
          department: 'Brand',
          employment_type: 'Full-time',
          remote: false,
          url: 'https://jobs.lever.co/acme/a',
          posted_at: '2026-11-01T00:00:00.000Z',
          source: 'Lever',
        },
      ],
    ],
    [
      'ashby',
      '/posting-api/job-board/Acme%20Labs',
      ASHBY,
      [
        {
          title: 'Researcher',
          location: 'London',
          department: 'Science',
          employment_type: 'FullTime',
          remote: true,
          url: 'https://jobs.ashbyhq.com/Acme%20Labs/1',
          posted_at: '2026-11-03T00:00:00.000Z',
          source: 'Ashby',
        },
      ],
    ],
    [
      'smartrecruiters',
      '/v1/companies/AcmeCorp1/postings?limit=100&offset=0',
      { totalFound: 1, offset: 0, limit: 100, content: [posting(7)] },
      [
        {
          title: 'Role 7',
          location: 'Kraków, PL',
          department: 'Ops',
          employment_type: 'Permanent',
          remote: false,
          url: 'https://jobs.smartrecruiters.com/AcmeCorp1/7',
          posted_at: '2026-11-01T00:00:00.000Z',
          source: 'SmartRecruiters',
        },
      ],
    ],
    [
      'recruitee',
      '/api/offers',
      RECRUITEE,
      [
        {
          title: 'Cook',
          location: 'Ghent, Belgium',
          department: 'Kitchen',
          employment_type: 'fulltime',
          remote: false,
          url: 'https://acme-jobs.recruitee.com/o/cook',
          posted_at: '2026-11-04T08:30:00.000Z',
          source: 'Recruitee',
        },
      ],
    ],
  ])('%s', async (id, path, body, jobs) => {
    const { origin } = await serveSite(careers[id] ?? {})
    const board = await serveBoard({ [path]: { body } })
    const outcome = await runAction(
      'company_job_openings',
      { domain: origin },
      { urls: { [id]: board.origin } },
    )
    expect(outcome).toEqual({ kind: 'done', outputs: { count: jobs.length, jobs } })
    expect(board.asked).toEqual([path])
  })

  it('or reads the postings on its careers page', async () => {
    const { origin } = await serveSite(ownPostings)
    const outcome = await runAction('company_job_openings', { domain: origin })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: {
        count: 2,
        jobs: [
          {
            title: 'Buchhalter',
            remote: true,
            location: null,
            url: `${origin}/karriere/`,
            source: 'website',
          },
          {
            title: 'Schweißer (m/w/d)',
            location: 'Ulm, DE',
            employment_type: 'FULL_TIME',
            url: `${origin}/karriere/schweisser`,
          },
        ],
      },
    })
  })

  it('or the postings if the board no longer exists', async () => {
    const site = {
      ...ownPostings,
      '/': '<a href="/karriere/">Karriere</a><a href="https://jobs.lever.co/gone">Jobs</a>',
    }
    const { origin } = await serveSite(site)
    const board = await serveBoard({})
    const outcome = await runAction(
      'company_job_openings',
      { domain: origin },
      { urls: { lever: board.origin } },
    )
    expect(outcome).toMatchObject({ kind: 'done', outputs: { count: 2 } })
    expect(board.asked).toEqual(['/v0/postings/gone?mode=json'])
  })

  it('or has no answer', async () => {
    const { origin, requests } = await serveSite({ '/': '<title>No jobs here</title>' })
    expect(await runAction('company_job_openings', { domain: origin })).toEqual({ kind: 'no_match' })
    expect(requests).toEqual(['/robots.txt', '/', '/careers', '/jobs'])
  })
})

describe('company_job_openings of a board', () => {
  const run = async (replies: Record<string, Reply>, inputs: Record<string, unknown>) => {
    const { origin } = await serveBoard(replies)
    const urls = {
      greenhouse: origin,
      lever: origin,
      ashby: origin,
      smartrecruiters: origin,
      recruitee: `${origin}/{company}`,
    }
    return runAction('company_job_openings', inputs, { urls })
  }
  const board = 'greenhouse:acmeinc'
  const path = '/v1/boards/acmeinc/jobs?content=true'

  it.each([
    'greenhouse:acmeinc',
    ' Greenhouse : acmeinc',
    'https://boards.greenhouse.io/acmeinc/jobs/5',
    'job-boards.greenhouse.io/acmeinc',
  ])('%s', async (board) => {
    expect(await run({ [path]: { body: GREENHOUSE } }, { board })).toMatchObject({
      kind: 'done',
      outputs: { count: 2 },
    })
  })

  it.each([
    ['postgresql', ['Backend Engineer']],
    ['sales', ['Sales Lead']],
    ['ENGINEERING , lead', ['Sales Lead', 'Backend Engineer']],
    ['cobol', []],
  ])('with the keywords "%s"', async (keywords, titles) => {
    const outcome = await run({ [path]: { body: GREENHOUSE } }, { board, keywords })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { count: titles.length, jobs: titles.map((title) => ({ title })) },
    })
  })

  it('reads every page', async () => {
    const page = (offset: number, n: number): Record<string, Reply> => ({
      [`/v1/companies/Acme/postings?limit=100&offset=${offset}`]: {
        body: { totalFound: 150, content: Array.from({ length: n }, (_, at) => posting(offset + at)) },
      },
    })
    expect(await run({ ...page(0, 100), ...page(100, 50) }, { board: 'smartrecruiters:Acme' })).toMatchObject(
      { kind: 'done', outputs: { count: 150 } },
    )
  })

  it('may have its own host for each company', async () => {
    expect(
      await run({ '/acme-jobs/api/offers': { body: RECRUITEE } }, { board: 'recruitee:acme-jobs' }),
    ).toMatchObject({ kind: 'done', outputs: { count: 1 } })
  })

  it('without openings is an answer', async () => {
    expect(await run({ [path]: { body: { jobs: [] } } }, { board })).toEqual({
      kind: 'done',
      outputs: { count: 0, jobs: [] },
    })
  })

  it.each<[string, Reply, object]>([
    [
      'is not there',
      { status: 404, body: {} },
      { kind: 'failed', message: 'Greenhouse has no board acmeinc' },
    ],
    [
      'is busy',
      { status: 429, body: {}, headers: { 'retry-after': '3' } },
      { kind: 'retry', message: 'Greenhouse answers HTTP 429', afterMs: 3000 },
    ],
    ['is broken', { status: 502, body: {} }, { kind: 'retry', message: 'Greenhouse answers HTTP 502' }],
    [
      'refuses',
      { status: 401, body: {} },
      { kind: 'failed', message: 'Greenhouse answers HTTP 401 about the board acmeinc' },
    ],
    [
      'answers another type',
      { body: { jobs: 'none' } },
      { kind: 'failed', message: 'Greenhouse answered something that is not a list of openings' },
    ],
    [
      'answers no JSON',
      { body: '<html>' },
      { kind: 'failed', message: 'Greenhouse answered something that is not a list of openings' },
    ],
  ])('that %s', async (_what, reply, outcome) => {
    expect(await run({ [path]: reply }, { board })).toEqual(outcome)
  })

  it.each(['acme', 'workday:acme', 'https://acme.example/jobs'])('"%s" is not a board', async (given) => {
    const message = expect.stringContaining(`board: "${given}" is no board; write it like greenhouse:acme`)
    expect(await run({}, { board: given })).toEqual({ kind: 'failed', message })
  })
})

it.each([
  ['https://jobs.eu.lever.co/acme', 'lever_eu', 'acme'],
  ['https://job-boards.eu.greenhouse.io/acme', 'greenhouse', 'acme'],
  ['https://boards-api.greenhouse.io/v1/boards/acme/jobs', 'greenhouse', 'acme'],
  ['https://api.lever.co/v0/postings/acme', 'lever', 'acme'],
  ['https://api.ashbyhq.com/posting-api/job-board/acme', 'ashby', 'acme'],
  ['https://jobs.smartrecruiters.com/ni/AcmeCorp/123', 'smartrecruiters', 'AcmeCorp'],
])('the address %s is of a board', (address, id, company) => {
  expect(readBoardName(address)).toMatchObject({ board: { id }, company })
})

it('pages that only mention boards name none', () => {
  expect(findBoards('<p>We compared lever.co, www.recruitee.com and greenhouse.io</p>')).toEqual([])
})
