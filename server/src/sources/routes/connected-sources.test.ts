import { describe, expect, it } from 'vitest'
import { postgres } from '#server/catalog/providers/postgres/provider.ts'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { setEnv } from '#server/organisation/env-variables.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp({ settings: { LOAM_EGRESS_ALLOW: '127.0.0.1' } })
const SECRET = 's-secret-0123456789'

describe('sources over the real catalogue', () => {
  it('import_from_api reads with environment variables of the organisation, which are stored and shown nowhere', async () => {
    const org = await app.makeOrg()
    const { origin, seen } = await serveDouble(({ headers }) =>
      headers['x-api-key'] === SECRET
        ? { json: [{ id: 1, name: 'Acme', echo: SECRET }] }
        : { status: 401, json: { message: 'who are you?' } },
    )
    const body = { url: `${origin}/items`, key_path: 'id', headers: { 'X-Api-Key': '{{env.CRM_KEY}}' } }
    const before = await org.call('POST', '/sources/import_from_api/preview', body)
    expect(before.status).toBe(400)
    expect(JSON.stringify(before.body)).toContain('loam env set CRM_KEY -')
    const scope = { orgId: org.orgId, workflowId: null }
    await setEnv(app.store.system, app.services.sealer, OPERATOR, { scope, key: 'CRM_KEY', value: SECRET })
    // Data just read stays cached for a second or two.
    await expect
      .poll(async () => (await org.call('POST', '/sources/import_from_api/preview', body)).status)
      .toBe(200)
    const preview = await org.call('POST', '/sources/import_from_api/preview', body)
    expect(preview.body.data).toEqual([{ id: 1, name: 'Acme', echo: '[redacted]' }])
    expect(seen.at(-1)?.headers['x-api-key']).toBe(SECRET)
    const created = await org.call('POST', '/sources/import_from_api', { ...body, name: 'CRM' })
    expect(created.status).toBe(201)
    const listed = await org.call('GET', '/sources/')
    expect(JSON.stringify(listed.body)).not.toContain(SECRET)
    const stored = await app.store.system
      .selectFrom('sources')
      .selectAll()
      .where('org_id', '=', org.orgId)
      .execute()
    expect(JSON.stringify(stored)).toContain('{{env.CRM_KEY}}')
    expect(JSON.stringify(stored)).not.toContain(SECRET)
  })

  it("import_from_postgres names what to connect, and then that a private address is the operator's to permit", async () => {
    const org = await app.makeOrg()
    const body = { table: 'leads', key_column: 'id' }
    const without = await org.call('POST', '/sources/import_from_postgres/preview', body)
    expect([without.status, JSON.stringify(without.body)]).toEqual([
      400,
      expect.stringContaining('loam connection add --provider postgres'),
    ])
    await addConnection(app.store.system, app.services.sealer, OPERATOR, {
      orgId: org.orgId,
      provider: postgres,
      name: 'Warehouse',
      fields: { secret: 'postgres://reader:pw@10.0.0.5:5432/sales' },
      ownerId: null,
      shared: true,
    })
    await expect
      .poll(async () => {
        const { status, body: said } = await org.call(
          'POST',
          '/sources/import_from_postgres/options/schema',
          {},
        )
        return [status, JSON.stringify(said)]
      })
      .toEqual([400, expect.stringContaining('LOAM_EGRESS_ALLOW')])
  })
})
