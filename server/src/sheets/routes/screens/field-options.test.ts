import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { gridSheetsOf } from '../../testing/grid-sheet.ts'

const app = await makeApp({ settings: { LOAM_MODELS: 'small,large', LOAM_PROVIDER_KEY_HUNTER: 'k' } })
const makeSheet = gridSheetsOf(app)

it('H3: a field has its options before its action is added, for values that are not saved', async () => {
  const { session, sheet } = await makeSheet()
  const ask = async (path: string, context: object = {}) => {
    const { status, body } = await session.call('POST', `${sheet}/templates/${path}`, { context })
    return [status, body.data?.options?.map(({ value }: { value: string }) => value) ?? body.errors]
  }
  expect(await ask('ai_generate/options/model')).toEqual([200, ['small', 'large']])
  expect(await ask('send_to_sheet/options/target_sheet_id')).toEqual([200, [sheet.slice(-36)]])
  const [status, providers] = await ask('person_work_email_waterfall/options/email_providers')
  expect([status, providers]).toEqual([200, expect.arrayContaining(['Hunter'])])
  expect(await ask('airtable_upsert_record/options/table')).toEqual([
    400,
    [{ field: 'context.base', message: 'required' }],
  ])
  for (const path of [
    'ai_generate/options/prompt',
    'ai_generate/options/__proto__',
    'nothing/options/model',
  ]) {
    expect((await ask(path))[0], path).toBe(404)
  }
  const { session: stranger } = await makeSheet()
  const foreign = await stranger.call('POST', `${sheet}/templates/ai_generate/options/model`, {})
  expect(foreign.status).toBe(404)
})

it('H4: the default list of a waterfall has its keys before its action is added', async () => {
  const { session, sheet } = await makeSheet()
  const read = (path: string, by = session) => by.call('GET', `${sheet}/templates/${path}`)
  const { status, body } = await read('person_work_email_waterfall/waterfall/email_providers?all=true')
  expect([status, body.data.is_default]).toEqual([200, true])
  const hunter = { provider: 'Hunter', key: 'installation', asked: true, listed: true }
  expect(body.data.providers).toContainEqual(expect.objectContaining(hunter))
  expect(body.data.providers).toContainEqual(expect.objectContaining({ key: 'none', asked: false }))
  expect((await read('ai_generate/waterfall/model')).status).toBe(404)
  const { session: stranger } = await makeSheet()
  expect((await read('person_work_email_waterfall/waterfall/email_providers', stranger)).status).toBe(404)
})
