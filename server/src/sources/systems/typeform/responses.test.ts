import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const FORM = {
  id: 'u6nXL7',
  fields: [
    { id: 'f1', ref: 'mail', title: '*Your* mail', type: 'email' },
    {
      id: 'g1',
      ref: 'group',
      title: 'About',
      type: 'group',
      properties: { fields: [{ id: 'f2', ref: 'size', title: 'Size', type: 'multiple_choice' }] },
    },
    { id: 'f3', ref: 'again', title: 'Size', type: 'number' },
    { id: 'f4', ref: 'tags', title: 'Tags', type: 'multiple_choice' },
  ],
}
const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString().replace('.000', '')
const response = (n: number) => ({
  token: `t${n}`,
  submitted_at: at(n),
  hidden: { utm: 'ads' },
  answers: [
    { type: 'email', email: `p${n}@acme.example`, field: { id: 'f1', type: 'email', ref: 'mail' } },
    { type: 'choice', choice: { label: '1-10' }, field: { id: 'f2', type: 'multiple_choice', ref: 'size' } },
    {
      type: 'choices',
      choices: { labels: ['a'], other: 'z' },
      field: { id: 'f4', type: 'multiple_choice', ref: 'tags' },
    },
  ],
})

/** Serves responses as Typeform pages them: first sorted by time, then by token, never both. */
function serveForm(count: number) {
  const all = Array.from({ length: count }, (_, n) => response(n))
  return ({ path, query }: Seen): Reply => {
    if (path === '/forms/u6nXL7') return { json: FORM }
    if (query['after'] !== undefined && query['sort'] !== undefined)
      return { status: 400, json: { code: 'SORT' } }
    const start =
      query['after'] === undefined ? 0 : all.findIndex(({ token }) => token === query['after']) + 1
    const since = query['since'] ?? ''
    const found = all.slice(start).filter(({ submitted_at }) => submitted_at >= since)
    return { json: { total_items: found.length, items: found.slice(0, Number(query['page_size'])) } }
  }
}

const BODY = { form_id: 'u6nXL7' }

async function pullForm(count: number, body: Record<string, unknown> = BODY, settings = {}) {
  const { origin, seen } = await serveDouble(serveForm(count))
  return {
    seen,
    pulled: await pullSource('import_from_typeform', body, { urls: { typeform: origin }, ...settings }),
  }
}

describe('import_from_typeform', () => {
  it('reads all responses by token, with the answers under the titles of their questions', async () => {
    const { seen, pulled } = await pullForm(5, BODY, { limit: 2 })
    expect(pulled).toMatchObject({ keys: ['t0', 't1', 't2', 't3', 't4'], total: 5, refusal: null })
    expect(pulled.rows[0]).toEqual({
      utm: 'ads',
      'Your mail': 'p0@acme.example',
      Size: '1-10',
      'Size 2': null,
      Tags: ['a', 'z'],
      submitted_at: '2026-01-01T00:00:00Z',
    })
    expect(seen.map(({ path, query }) => [path, query])).toEqual([
      ['/forms/u6nXL7', {}],
      ['/forms/u6nXL7/responses', { page_size: '2', sort: 'submitted_at,asc' }],
      ['/forms/u6nXL7/responses', { page_size: '2', after: 't1' }],
      ['/forms/u6nXL7/responses', { page_size: '2', after: 't3' }],
    ])
  })

  it('on a schedule starts an hour before the newest response, because Typeform lists them late', async () => {
    const { pulled } = await pullForm(3)
    expect(pulled.resume).toEqual({ since: '2025-12-31T23:00:02', after: null, fields: null })
    const { seen } = await pullForm(3, BODY, { state: pulled.resume })
    expect(seen[1]?.query).toMatchObject({ since: '2025-12-31T23:00:02', sort: 'submitted_at,asc' })
  })

  it('takes only the fields that are named, by ref, id or title', async () => {
    const { pulled } = await pullForm(1, { ...BODY, form_fields: ['mail', 'f3', 'Tags'] })
    expect(Object.keys(pulled.rows[0] ?? {})).toEqual(['utm', 'Your mail', 'Size 2', 'Tags', 'submitted_at'])
  })

  it('passes on a refusal of the form, and refuses an invalid id', async () => {
    const { origin } = await serveDouble(() => ({ status: 404, json: { code: 'FORM_NOT_FOUND' } }))
    const { refusal } = await pullSource('import_from_typeform', BODY, { urls: { typeform: origin } })
    expect(refusal).toMatchObject({ message: expect.stringContaining('FORM_NOT_FOUND') })
    await expect(pullSource('import_from_typeform', { form_id: 'a/b' })).rejects.toMatchObject({
      details: {
        errors: [{ field: 'form_id', message: expect.stringContaining('must be the id of a form') }],
      },
    })
  })
})
