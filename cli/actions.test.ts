import { expect, it } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { runLoam } from './testing/loam.ts'

// The commands need no settings and no database: the catalogue is part of the program.
const loam = (...args: string[]) => runLoam(args, {})

it.each([['actions'], ['actions list']])('loam %s lists the catalogue', async (command) => {
  const all = (await loadCatalogue()).list()
  const { exit, stdout, stderr } = await loam(...command.split(' '), '--json')
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual(
    all.map(({ id, name, category, credits, description }) =>
      expect.objectContaining({ action_id: id, name, category, credits, description }),
    ),
  )
  const table = (await loam(...command.split(' '))).stdout.split('\n')
  expect(table[0]).toMatch(/^ACTION +NAME +CATEGORY +CREDITS$/)
  expect(table.slice(1, -1).map((line) => line.split(' ')[0])).toEqual(all.map(({ id }) => id))
})

it('H8: loam actions --search prints what matches, the best first', async () => {
  const listIds = async (...args: string[]) =>
    JSON.parse((await loam('actions', ...args, '--json')).stdout).map(
      (one: { action_id: string }) => one.action_id,
    )
  expect((await listIds('--search', 'work email'))[0]).toBe('person_work_email_waterfall')
  expect(await listIds('list', '--search', 'gpt')).toEqual(['ai_generate', 'llm_web_agents'])
  expect((await loam('actions', '--search', 'qqqq')).stdout).toBe('No actions.\n')
  expect((await loam('actions', '--search', 'a'.repeat(201))).stderr).toContain('search')
})

it('loam actions show prints the inputs with their choices, and the outputs', async () => {
  const { stdout } = await loam('actions', 'show', 'http_api_call', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    action_id: 'http_api_call',
    name: 'HTTP API call',
    credits: 0,
    inputs: expect.arrayContaining([
      {
        name: 'method',
        type: 'string',
        required: true,
        description: 'How to call the API.',
        label: 'Method',
        help: 'How to call the API.',
        placeholder: null,
        group: 'main',
        kind: 'choice',
        options: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'],
        option_labels: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'],
      },
    ]),
    outputs: [{ name: 'status_code', type: 'number', description: 'The HTTP status of the reply.' }],
    dynamic_outputs: true,
  })
  const text = (await loam('actions', 'show', 'person_work_email_waterfall')).stdout
  expect(text).toContain('needs     linkedin_url, or full_name and company_domain')
  expect(text).toMatch(/email_providers +stepDownSearch .*Hunter/)
  expect(text).toMatch(/\nwork_email +email +The address\.\n/)
})

it.each([
  ['records_ingest', ['source', 'entity_kind', 'identifiers jsonArray', 'fields jsonArray']],
  [
    'records_relationship',
    ['relationship_target', 'operation', 'relationship_type', 'from_identifier', 'to_identifier'],
  ],
])('D63: the inputs of %s', async (action, expected) => {
  const { inputs } = JSON.parse((await loam('actions', 'show', action, '--json')).stdout) as {
    inputs: { name: string; type: string }[]
  }
  const named = inputs.map(({ name, type }) => (type === 'jsonArray' ? `${name} ${type}` : name))
  expect(named).toEqual(expected)
})

it('prices of waterfalls are those of their cheapest and dearest provider, not 0', async () => {
  type Priced = { action_id: string; credits: number; price: { min: number; max: number } }
  const listed = JSON.parse((await loam('actions', '--json')).stdout) as Priced[]
  const table = (await loam('actions')).stdout
  for (const { id, credits, inputs } of (await loadCatalogue()).list()) {
    const providers = Object.values(inputs).flatMap(({ waterfall }) => waterfall?.providers ?? [])
    const asked = providers.filter(({ asksNobody }) => asksNobody !== true).map((one) => one.credits ?? 0)
    const [min, max] =
      asked.length === 0 ? [credits, credits] : [credits + Math.min(...asked), credits + Math.max(...asked)]
    expect(listed.find(({ action_id }) => action_id === id)).toMatchObject({ credits, price: { min, max } })
    expect(table).toMatch(new RegExp(`\n${id} .* ${min === max ? max : `${min} to ${max}`}\n`))
  }
  const emails = listed.find(({ action_id }) => action_id === 'person_work_email_waterfall')
  expect(emails?.price).toEqual({ min: 0.1, max: 3 })
})

it.each([
  ['no_such_action', 'There is no action no_such_action; loam actions lists them'],
  ['http_api_cal', 'There is no action http_api_cal; did you mean http_api_call?'],
])('an action that there is not is not found: exit 3 (%s)', async (id, message) => {
  const { exit, stdout, stderr } = await loam('actions', 'show', id, '--json')
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' })
  expect(JSON.parse(stderr)).toEqual({ error: 'Not Found', message })
})

it.each([
  ['shwo', "unknown command 'shwo'\n(Did you mean show?)"],
  ['http_api_call', "unknown command 'http_api_call'"],
])('loam actions %s names the command that was meant: exit 2', async (word, message) => {
  const { exit, stdout, stderr } = await loam('actions', word, '--json')
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
  expect(JSON.parse(stderr)).toEqual({ error: 'Usage Error', message })
})
