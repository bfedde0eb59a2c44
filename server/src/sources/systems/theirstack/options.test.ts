import { describe, expect, it } from 'vitest'
import { type Reply, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { listOptions } from '../../testing/list-options.ts'

async function list(field: string, reply: Reply) {
  const { origin, seen } = await serveDouble(() => reply)
  return { listed: await listOptions('find_job_postings', field, {}, { urls: { theirstack: origin } }), seen }
}

describe('options of sources by TheirStack', () => {
  const keywords = [{ slug: 'kafka', name: 'Kafka' }, { slug: 'airflow' }]

  it.each([keywords, { data: keywords }])('lists technologies by slug, from %j', async (json) => {
    for (const field of ['company_technology_slug', 'job_technology_slug']) {
      const { listed, seen } = await list(field, { json })
      expect(seen[0]).toMatchObject({ path: '/v0/catalog/keywords', query: { keyword_type: 'technology' } })
      expect(listed).toEqual({
        ok: true,
        body: [
          { value: 'airflow', label: 'airflow' },
          { value: 'kafka', label: 'Kafka' },
        ],
      })
    }
  })

  it('lists industries by id', async () => {
    const { listed, seen } = await list('industry_id', { json: [{ industry_id: 4, industry: 'Software' }] })
    expect(seen[0]).toMatchObject({ path: '/v0/catalog/industries' })
    expect(listed).toEqual({ ok: true, body: [{ value: '4', label: 'Software' }] })
  })

  it('passes on a refusal', async () => {
    const { listed } = await list('industry_id', { status: 401 })
    expect(listed).toMatchObject({ ok: false, refusal: { kind: 'unconfigured' } })
  })
})
