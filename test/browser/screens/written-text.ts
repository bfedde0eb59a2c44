import { describe, expect, it } from 'vitest'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { serveHttp } from '../../doubles/loopback-server.ts'
import { LONG, type Tour } from './tour.ts'

/** Tests that text which contains a script is shown as text. */
export function describeWrittenText({ dashboard, app, url }: Tour): void {
  describe('what people and other programs wrote', LONG, () => {
    const PAYLOAD = '<img src=x onerror="window.ran=1"><script>window.ran=2</script>'

    it('is shown as text on every screen, and never run', async () => {
      const other = await app.makeOrg()
      const reader = await dashboard.open(other, '/workflows')
      const session = (await (await reader.request.get(url('/internal/session'))).json()).data
      const headers = { origin: dashboard.url, 'x-loam-csrf': session.csrf_token }
      const send = async (method: string, path: string, data: unknown) => {
        const answer = await reader.request.fetch(url(`/internal${path}`), { method, headers, data })
        expect([path, answer.status(), answer.ok() || (await answer.text())]).toEqual([
          path,
          answer.status(),
          true,
        ])
        return (await answer.json()).data
      }
      const id: string = (await send('POST', '/api/v1/workflows', { name: PAYLOAD })).workflow_id
      const sheet = `/workflows/${id}/sheets/${id}`
      await send('POST', `/api/v1${sheet}/inputs`, [{ name: PAYLOAD, type: 'string', description: PAYLOAD }])
      await send('POST', `/api/v1${sheet}/actions/add`, {
        action_id: 'format_data_using_js_expression',
        name: PAYLOAD,
        inputs: { data_formatter: `(() => { throw new Error(${JSON.stringify(PAYLOAD)}) })()` },
      })
      await send('POST', `/api/v1${sheet}/rows`, { rows: [{ [PAYLOAD]: PAYLOAD }], run_after_add: 'all' })
      const webhook = await send('POST', `${sheet}/webhook`, {})
      await reader.request.post(webhook.address, { data: { other: PAYLOAD } })
      const shortcut: string = (
        await send('POST', '/shortcuts', { workflow_id: id, name: PAYLOAD, description: PAYLOAD })
      ).id
      const reference: string = (await send('GET', `/api/v1/shortcuts/${shortcut}`, undefined))
        .input_schema[0].reference
      await send('POST', `/api/v1/shortcuts/${shortcut}/run`, { input_data: { [reference]: PAYLOAD } })
      await recordsOf(app).ingest(other.orgId, 'test', company('payload.example', { name: PAYLOAD }))
      const filter = [{ conditions: [{ variable: 'name', operator: 'is', values: [PAYLOAD] }] }]
      const segment = await send('POST', '/segments', { name: PAYLOAD, kind: 'company', filter })
      await send('POST', `/api/v1/records/segments/${segment.id}/sync`, {
        workflow_id: id,
        field_mapping: { [`input.${PAYLOAD}`]: 'name' },
      })
      const budget = { scope: 'workflow', subject: id, period: 'month', limit: 1, name: PAYLOAD }
      await send('POST', '/api/v1/credits/budgets', budget)
      await send('POST', '/connections', {
        provider: 'hubspot',
        name: PAYLOAD.slice(0, 90),
        fields: { secret: 'x' },
      })
      const source = await send('POST', '/api/v1/sources/track_website_visitors', {
        active_domain: 'payload.example',
        name: PAYLOAD,
      })
      const { origin } = await serveHttp((request, response) => {
        response.statusCode = request.url === '/broken' ? 500 : 200
        response.end(request.url === '/broken' ? PAYLOAD : JSON.stringify([{ id: 1, note: PAYLOAD }]))
      })
      const makeSource = async (path: string) => {
        const body = { url: `${origin}${path}`, key_path: 'id', name: path }
        const made = await send('POST', '/api/v1/sources/import_from_api', body)
        return `/sources/${made.source_instance_id}`
      }
      await send('PUT', '/environment', { key: 'TOKEN', value: 'x', workflow_id: id })
      await send('POST', '/members', { email: 'payload@example.com', role: 'member' })
      const { link } = (await send('GET', '/members', undefined)).invitations[0]
      await fetch(url(`/internal${new URL(link).pathname}`), {
        method: 'POST',
        headers: { origin: dashboard.url, 'content-type': 'application/json' },
        body: JSON.stringify({ first_name: PAYLOAD }),
      })
      const screens = [
        await makeSource('/records'),
        await makeSource('/broken'),
        '/settings/members',
        '/settings/environment',
        '/workflows',
        `${sheet}/runs`,
        `${sheet}/webhook`,
        '/sources',
        `/sources/${source.source_instance_id}`,
        '/shortcuts',
        `/shortcuts/${shortcut}`,
        '/records',
        '/segments',
        '/usage',
        '/settings/connections',
        '/settings/audit',
      ]
      const shown = reader.getByRole('main').getByText('<img src=x onerror=').first()
      const isQuiet = async () =>
        (await reader.evaluate('window.ran')) === undefined &&
        (await reader.locator('img[src="x"]').count()) === 0
      for (const screen of screens) {
        await reader.goto(url(screen))
        await shown.waitFor()
        expect([screen, await isQuiet()]).toEqual([screen, true])
      }
      const inDialog = reader.getByRole('dialog').getByText('<img src=x onerror=').first()
      await reader.keyboard.press('Control+k')
      await inDialog.waitFor()
      await reader.keyboard.press('Escape')
      await reader.goto(url('/workflows'))
      await reader.getByRole('button', { name: /^Actions for / }).click()
      await reader.getByRole('menuitem', { name: 'Duplicate' }).click()
      await reader.getByRole('region', { name: 'Notifications' }).getByText('<img src=x').first().waitFor()
      await reader
        .getByRole('button', { name: /^Actions for / })
        .first()
        .click()
      await reader.getByRole('menuitem', { name: 'Delete' }).click()
      await inDialog.waitFor()
      expect(await isQuiet()).toBe(true)
      await reader.context().close()
    })
  })
}
