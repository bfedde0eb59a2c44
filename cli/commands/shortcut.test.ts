import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }

const org = await app.makeOrg()
const bob = await org.keyFor('bob@example.com', 'user')
const NOBODY = '00000000-0000-7000-8000-000000000000'

async function shortcut(...args: string[]): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam(['shortcut', ...args, '--json'], ENV)
  return { exit, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const formula = (expression: string) => ({
  action_id: 'format_data_using_js_expression',
  inputs: { data_formatter: expression },
})
const { body } = await org.call('POST', '/workflows/', { name: 'Greeting' })
const workflow: string = body.data.workflow_id
const sheet = `/workflows/${workflow}/sheets/${workflow}`
await org.call('POST', `${sheet}/inputs`, [{ name: 'Full Name', type: 'string' }])
await org.call('POST', `${sheet}/actions/add`, formula('"Hello " + {{input.Full Name}}'))
const published = await shortcut(
  'publish',
  '--workflow',
  workflow,
  '--name',
  ' Greet ',
  '--icon-emoji',
  '👋',
  '--cover-image',
  'https://img.example/a.png',
)
const { id } = published.answer

it('D57: publish prints the Shortcut, as the API shows it; its publisher is the owner of the workflow', async () => {
  expect(published.exit).toBe(0)
  expect(published.answer).toEqual((await org.call('GET', `/shortcuts/${id}`)).body.data)
  expect(published.answer).toMatchObject({
    name: 'Greet',
    creator_email: org.adminEmail,
    icon_emoji: '👋',
    cover_image: 'https://img.example/a.png',
    input_schema: [{ reference: 'full_name', name: 'Full Name', type: 'string' }],
    output_schema: [{ name: 'formatted_data' }],
  })
})

it('D57: --inputs and --outputs are files with arrays of entries', async () => {
  const inputs = [
    { reference: 'full_name', name: 'Who', type: 'string', required: true, defaultValue: 'World' },
  ]
  const outputs = [{ name: 'formatted_data', description: 'The greeting', display_column: 'text' }]
  const flags = ['--workflow', workflow, '--name', 'Given', '--email', 'bob@example.com']
  const files = ['--inputs', file('inputs.json', inputs), '--outputs', file('outputs.json', outputs)]
  const made = await shortcut('publish', ...flags, ...files)
  expect(made).toMatchObject({
    exit: 0,
    answer: { input_schema: inputs, output_schema: outputs, creator_email: 'bob@example.com' },
  })
})

it.each<[string, string[], number, Json]>([
  ['an unknown workflow', ['--workflow', NOBODY], 3, { error: 'Not Found' }],
  [
    'entries of the wrong shape',
    ['--workflow', workflow, '--inputs', file('shape.json', [{ name: 'Full Name', foo: 1 }])],
    2,
    { errors: [{ field: 'inputs[0]', message: 'not accepted: foo' }] },
  ],
  [
    'an output that the workflow does not have',
    ['--workflow', workflow, '--outputs', file('unknown.json', [{ name: 'greeting' }])],
    2,
    { errors: [{ field: 'outputs[0].name', message: expect.stringContaining('formatted_data ({{') }] },
  ],
])('publish refuses %s', async (_what, flags, exit, failure) => {
  expect(await shortcut('publish', '--name', 'X', ...flags)).toMatchObject({ exit, answer: failure })
})

it('without a worker, run fails instead of waiting', async () => {
  expect(await shortcut('run', id)).toMatchObject({ exit: 5, answer: { error: 'Service Unavailable' } })
  const queued = await shortcut('run', id, '--no-wait')
  expect(queued).toMatchObject({ exit: 0, answer: { app_id: id, status: 'pending', output_data: null } })
})

it('run waits for the finished run, of fields, of a file, or of rows', async () => {
  await startTestWorker(app)
  await expect
    .poll(async () => (await app.store.query({ text: 'select from workers' })).length)
    .toBeGreaterThan(0)
  const greeting = (value: string) => ({ formatted_data: { value, status: 'completed' } })
  expect(await shortcut('run', id, '--input', 'full_name=Ann = Lee')).toMatchObject({
    exit: 0,
    answer: { status: 'completed', user_email: org.adminEmail, output_data: greeting('Hello Ann = Lee') },
  })
  const one = file('one.json', { full_name: 'Bob' })
  expect((await shortcut('run', id, '--input', one)).answer.output_data).toEqual(greeting('Hello Bob'))
  const rows = file('rows.json', [{ full_name: 'C' }, { full_name: 'D' }, {}])
  const { exit, stdout, stderr } = await runLoam(['shortcut', 'run', id, '--rows', rows], ENV)
  expect([exit, stderr]).toEqual([0, expect.stringMatching(/loam: 3 of 3 done\n$/)])
  expect(stdout.match(/completed/g)?.length).toBeGreaterThanOrEqual(3)
  const batch = await shortcut('run', id, '--rows', rows)
  expect(batch.answer.map((run: Json) => run.output_data)).toEqual(
    ['C', 'D', ''].map((name) => greeting(`Hello ${name}`)),
  )
  expect(await shortcut('run', id, '--input', 'who=x')).toMatchObject({
    exit: 2,
    answer: { errors: [{ field: 'input.who', message: expect.stringContaining('full_name') }] },
  })
  expect((await shortcut('run', id, '--input', 'a=b', '--rows', rows)).exit).toBe(2)
})

it('a run that does not complete is printed, with exit 1', async () => {
  await org.call('POST', `${sheet}/actions/add`, formula('no.such.name'))
  expect((await shortcut('run', id)).answer.status).toBe('completed')
  expect((await shortcut('republish', id)).answer.output_schema).toHaveLength(2)
  expect(await shortcut('run', id)).toMatchObject({ exit: 1, answer: { status: 'failed' } })
})

let copy = ''
/** Returns the statuses of two runs: of the copy by its holder, and of the shortcut by its publisher. */
async function statuses(): Promise<number[]> {
  const run = (key: string, which: string) =>
    app.call(key, 'POST', `/shortcuts/${which}/run`, { input_data: {} })
  return [(await run(bob, copy)).status, (await run(org.key, id)).status]
}

it('share gives a copy, and --revoke removes it', async () => {
  const shared = await shortcut('share', id, '--email', 'Bob@Example.com')
  expect(shared).toMatchObject({ exit: 0, answer: { parent_app_id: id, is_master: false } })
  copy = shared.answer.id
  expect(await statuses()).toEqual([201, 201])
  expect((await shortcut('share', id, '--email', 'bob@example.com', '--revoke')).answer.is_archived).toBe(
    true,
  )
  expect(await statuses()).toEqual([403, 201])
  expect((await shortcut('share', id, '--email', 'bob@example.com')).answer.id).toBe(copy)
})

it('unpublish and archive stop further runs, republish allows them again', async () => {
  expect((await shortcut('unpublish', id)).answer.is_published).toBe(false)
  expect(await statuses()).toEqual([403, 403])
  expect((await shortcut('archive', id)).answer.is_archived).toBe(true)
  expect((await shortcut('run', id)).exit).toBe(1)
  await shortcut('republish', id)
  expect(await statuses()).toEqual([201, 201])
})

it('update changes the details of a shortcut, and an empty text removes them', async () => {
  const changed = await shortcut(
    'update',
    id,
    '--name',
    'Say hello',
    '--description',
    'Greets',
    '--icon-emoji',
    '',
  )
  expect(changed.answer).toMatchObject({ name: 'Say hello', description: 'Greets', icon_emoji: null })
  expect((await org.call('GET', `/shortcuts/${id}`)).body.data).toEqual(changed.answer)
})

it('list and show', async () => {
  const { answer } = await shortcut('list')
  expect(answer.map((entry: Json) => entry.id)).toContain(id)
  expect((await shortcut('show', id)).answer).toEqual(answer.find((entry: Json) => entry.id === id))
  const { stdout } = await runLoam(['shortcut', 'show', id], ENV)
  expect(stdout).toContain('{{format_data_using_js_expression_1.formatted_data}}')
  expect((await shortcut('show', NOBODY)).exit).toBe(3)
})
