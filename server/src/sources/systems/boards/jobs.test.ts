import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const NOW = new Date('2026-11-15T00:00:00Z')
const opening = (id: number, title: string, published: string) => ({
  id,
  title,
  absolute_url: `https://boards.greenhouse.io/acme/jobs/${id}`,
  updated_at: published,
  first_published: published,
  location: { name: 'Berlin' },
  departments: [],
})

async function read(slug: string, body: Record<string, unknown>, answer: (seen: Seen) => Reply) {
  const { origin, seen } = await serveDouble(answer)
  const pulled = await pullSource(slug, body, {
    urls: { greenhouse: origin, lever: origin },
    fields: null,
    now: NOW,
  })
  return { pulled, paths: seen.map(({ path }) => path) }
}

const serveBoards = ({ path }: Seen): Reply => {
  if (path.startsWith('/v1/boards/acme/'))
    return {
      json: {
        jobs: [
          opening(1, 'Data Engineer', '2026-11-10T00:00:00Z'),
          opening(2, 'Sales Lead', '2026-11-12T00:00:00Z'),
          opening(3, 'Platform engineer', '2026-01-01T00:00:00Z'),
        ],
      },
    }
  if (path.startsWith('/v0/postings/bolt'))
    return {
      json: [{ id: 'a', text: 'Engineer', hostedUrl: 'https://jobs.lever.co/bolt/a', categories: {} }],
    }
  return { status: 404, json: {} }
}

describe('job postings of named boards, without a key', () => {
  it('reads one board per page, by titles and age; a board that no longer exists has no postings', async () => {
    const { pulled, paths } = await read(
      'find_job_postings',
      {
        boards: ['greenhouse:acme', 'https://boards.greenhouse.io/gone', 'lever:bolt'],
        job_titles: ['engineer'],
        posted_within_days: 30,
      },
      serveBoards,
    )
    expect(paths).toHaveLength(3)
    expect(pulled).toMatchObject({ pages: 3, refusal: null })
    expect(pulled.keys).toEqual(['https://boards.greenhouse.io/acme/jobs/1', 'https://jobs.lever.co/bolt/a'])
    expect(pulled.rows[0]).toEqual({
      title: 'Data Engineer',
      company: 'acme',
      domain: null,
      location: 'Berlin',
      url: 'https://boards.greenhouse.io/acme/jobs/1',
      posted_at: '2026-11-10T00:00:00.000Z',
      salary: null,
    })
  })

  it('counts the openings of each board for companies that hire', async () => {
    const { pulled } = await read(
      'find_companies_hiring',
      { boards: ['greenhouse:acme', 'lever:bolt', 'greenhouse:gone'], job_titles: ['engineer'] },
      serveBoards,
    )
    expect(pulled.keys).toEqual(['board acme', 'board bolt'])
    expect(pulled.rows[0]).toMatchObject({
      name: 'acme',
      open_roles: 2,
      latest_posting: '2026-11-10T00:00:00.000Z',
    })
  })

  it('names an unreadable board, and what to connect if no board is given', async () => {
    const unnamed = await read('track_job_postings', { job_titles: ['engineer'] }, serveBoards)
    expect(unnamed.pulled.refusal).toMatchObject({ kind: 'ineligible' })
    expect(JSON.stringify(unnamed.pulled.refusal)).toContain('LOAM_PROVIDER_KEY_THEIRSTACK')
    const unknown = await read('find_job_postings', { boards: ['nowhere:acme'] }, serveBoards)
    expect(JSON.stringify(unknown.pulled.refusal)).toContain('boards[0]')
  })

  it.each([
    [{ status: 503 }, { kind: 'error', transient: true }],
    [{ status: 403 }, { kind: 'error', transient: false }],
    [{ json: { jobs: 'none' } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await read('find_job_postings', { boards: ['greenhouse:acme'] }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })
})
