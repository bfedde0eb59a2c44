import { describe, expect, it } from 'vitest'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp()

type Made = { org: TestOrg; id: string; path: string }

async function makeSheet(): Promise<Made> {
  const org = await app.makeOrg()
  const id: string = (await org.call('POST', '/workflows/', { name: 'W' })).body.data.workflow_id
  return { org, id, path: `/workflows/${id}/sheets/${id}/inputs` }
}

const names = (inputs: Json[]): string[] => inputs.map((input) => input.name)
const list = async ({ org, path }: Made): Promise<string[]> => names((await org.call('GET', path)).body.data)
const columns = async ({ id }: Made): Promise<[string, number][]> => {
  const { definition } = await app.store.system
    .selectFrom('chain_revisions')
    .select('definition')
    .where('sheet_id', '=', id)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return definition.inputs.map((input) => [input.name, input.column])
}
const text = (name: string) => ({ name, type: 'string' })

const UNUSUAL = [
  'First Name',
  'a/b',
  'a/b/',
  '/',
  '...',
  '50%',
  '%2F',
  '%',
  'ünïcödé',
  '名前',
  '😀',
  'a.b.c',
  'q?x=1&y#z',
  '"quoted" \\ \'single\'',
  '__proto__',
  'constructor',
  'toString',
  'input',
  'n'.repeat(255),
  '😀'.repeat(127),
  'e\u0301',
  '\u00e9',
  'Email',
  'email',
]

describe('4.4 Create Inputs', () => {
  it('200 with all inputs, existing plus new; description is empty and reference computed', async () => {
    const made = await makeSheet()
    const { org, id, path } = made
    const first = await org.call('POST', path, [
      { name: '  Email ', type: 'email', description: 'Work\nonly' },
    ])
    const email = { name: 'Email', type: 'email', description: 'Work\nonly', reference: '{{input.Email}}' }
    expect([first.status, first.body]).toEqual([200, { status: 200, data: [email] }])
    const second = await org.call('POST', path, [text('Full name'), { name: 'Site', type: 'url' }])
    const all = [
      email,
      { name: 'Full name', type: 'string', description: '', reference: '{{input.Full name}}' },
      { name: 'Site', type: 'url', description: '', reference: '{{input.Site}}' },
    ]
    expect([second.status, second.body.data]).toEqual([200, all])
    expect((await org.call('GET', path)).body).toEqual({ status: 200, data: all })
    const audit = await app.store.system
      .selectFrom('audit_entries')
      .select('details')
      .where('action', '=', 'inputs.created')
      .where('target', '=', id)
      .orderBy('entry_id')
      .execute()
    expect(audit).toEqual([{ details: { names: ['Email'] } }, { details: { names: ['Full name', 'Site'] } }])
  })

  it('D28: any text without braces or control characters is a name, compared exactly', async () => {
    const made = await makeSheet()
    const { status, body } = await made.org.call('POST', made.path, UNUSUAL.map(text))
    expect([status, names(body.data)]).toEqual([200, UNUSUAL])
    expect(await list(made)).toEqual(UNUSUAL)
    expect(body.data.map((input: Json) => input.reference)).toEqual(
      UNUSUAL.map((name) => `{{input.${name}}}`),
    )
  })

  it('a child sheet has inputs of its own', async () => {
    const made = await makeSheet()
    await made.org.call('POST', made.path, [text('a')])
    const { sheet_id } = (await made.org.call('POST', `/workflows/${made.id}/sheets`, { name: 'c' })).body
      .data
    const path = `/workflows/${made.id}/sheets/${sheet_id}/inputs`
    expect(names((await made.org.call('POST', path, [text('a'), text('b')])).body.data)).toEqual(['a', 'b'])
    expect(await list(made)).toEqual(['a'])
  })

  it('scope workflows:write for changes, workflows:read for list', async () => {
    const { org, path } = await makeSheet()
    const [reader, writer] = await Promise.all(
      (['workflows:read', 'workflows:write'] as const).map((scope) =>
        org.keyFor(org.adminEmail, 'admin', { scopes: [scope] }),
      ),
    )
    const status = async (key = '', method = '', body?: unknown) =>
      (await app.call(key, method, path, body)).status
    expect([await status(reader, 'GET'), await status(reader, 'POST', [text('a')])]).toEqual([200, 403])
    expect([await status(writer, 'GET'), await status(writer, 'POST', [text('a')])]).toEqual([403, 200])
  })
})

const TYPES = 'must be one of: string, url, email, number, date, boolean, select'
const UNIQUE = 'must be unique in the sheet'
const HALF = 'must be well-formed Unicode (it holds half of a surrogate pair)'

describe('D29: what is not accepted, every failure at once and nothing stored', async () => {
  const made = await makeSheet()
  await made.org.call('POST', made.path, [text('taken')])
  it.each<[string, unknown, [field: string, message: string][]]>([
    ['no body', undefined, [['inputs', 'required']]],
    ['an object', { inputs: [text('a')] }, [['inputs', 'must be an array']]],
    ['[]', [], [['inputs', 'must be non-empty']]],
    [
      'an item that is no object',
      [text('a'), 5, null],
      [
        ['inputs[1]', 'must be an object'],
        ['inputs[2]', 'must be an object'],
      ],
    ],
    ['a wrong type', [{ name: 'a', type: 'text' }], [['inputs[0].type', TYPES]]],
    [
      'missing fields',
      [{}],
      [
        ['inputs[0].name', 'required'],
        ['inputs[0].type', 'required'],
      ],
    ],
    ['a blank name', [text('  ')], [['inputs[0].name', 'must not be empty']]],
    [
      'braces',
      [text('a}'), text('{b')],
      [
        ['inputs[0].name', 'must not contain braces'],
        ['inputs[1].name', 'must not contain braces'],
      ],
    ],
    [
      'names that an address cannot hold',
      [text('.'), text(' ..')],
      [
        ['inputs[0].name', 'must not be . or ..'],
        ['inputs[1].name', 'must not be . or ..'],
      ],
    ],
    ['NUL', [text('a\0b')], [['inputs[0].name', 'must not contain control characters']]],
    ['a line break', [text('a\nb')], [['inputs[0].name', 'must not contain control characters']]],
    ['half of a surrogate pair', [text('a\udc00')], [['inputs[0].name', HALF]]],
    ['10,000 characters', [text('n'.repeat(10_000))], [['inputs[0].name', 'must be at most 255 characters']]],
    ['a name that is a number', [{ name: 5, type: 'string' }], [['inputs[0].name', 'must be a string']]],
    [
      'a description that is null',
      [{ ...text('a'), description: null }],
      [['inputs[0].description', 'must be a string']],
    ],
    [
      'NUL in a description',
      [{ ...text('a'), description: '\0' }],
      [['inputs[0].description', 'must not contain NUL characters']],
    ],
    [
      'half of a pair in a description',
      [{ ...text('a'), description: '\ud800' }],
      [['inputs[0].description', HALF]],
    ],
    [
      'a description without end',
      [{ ...text('a'), description: 'd'.repeat(10_001) }],
      [['inputs[0].description', 'must be at most 10,000 characters']],
    ],
    [
      'D58: a reference',
      [{ ...text('a'), reference: '{{input.a}}' }],
      [['inputs[0].reference', 'not accepted']],
    ],
    [
      'D58: a reference that is null',
      [{ ...text('a'), reference: null }],
      [['inputs[0].reference', 'not accepted']],
    ],
    ['each other', [text('a'), text('b'), text(' a')], [['inputs[2].name', UNIQUE]]],
    ['an existing name', [text('b'), text('taken ')], [['inputs[1].name', UNIQUE]]],
    [
      'both',
      [text('taken'), text('b'), text('b')],
      [
        ['inputs[0].name', UNIQUE],
        ['inputs[2].name', UNIQUE],
      ],
    ],
    [
      'each other beside another failure',
      [{ name: 'b', type: 'x' }, text('b')],
      [
        ['inputs[0].type', TYPES],
        ['inputs[1].name', UNIQUE],
      ],
    ],
    [
      'too many',
      Array.from({ length: 501 }, (_, n) => text(`n${n}`)),
      [['inputs', 'must be at most 500 items']],
    ],
    [
      'too many in total',
      Array.from({ length: 500 }, (_, n) => text(`n${n}`)),
      [['inputs', 'a sheet has at most 500 inputs, these would make 501']],
    ],
  ])('400 %s', async (_what, body, errors) => {
    const { org, path } = made
    const answer = await org.call('POST', path, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        status: 400,
        error: 'Validation Error',
        message: `${errors.length} validation errors`,
        errors: errors.map(([field, message]) => ({ field, message })),
      },
    ])
    expect(await list(made)).toEqual(['taken'])
  })

  it('an unknown field is ignored and warned about, __proto__ included', async () => {
    const { org, path } = await makeSheet()
    const body = '[{"name":"a","type":"string","required":true,"__proto__":{"type":"url"}}]'
    const answer = await org.call('POST', path, body)
    expect(answer.body.data).toEqual([{ ...text('a'), description: '', reference: '{{input.a}}' }])
    expect(answer.body.warnings.map((warning: Json) => [warning.field, warning.code])).toEqual([
      ['inputs[0].required', 'unknown_field'],
      ['inputs[0].__proto__', 'unknown_field'],
    ])
  })

  it('500 inputs fit', async () => {
    const { org, path } = await makeSheet()
    const { status, body } = await org.call(
      'POST',
      path,
      Array.from({ length: 500 }, (_, n) => text(`n${n}`)),
    )
    expect([status, body.data.length]).toEqual([200, 500])
  })
})

describe('at the same time', () => {
  it('the same name is created once, and those beside it all or not at all', async () => {
    const made = await makeSheet()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        made.org.call('POST', made.path, [text(`own ${n}`), text('same')]),
      ),
    )
    const won = answers.findIndex((answer) => answer.status === 200)
    expect(answers.map((answer) => answer.status)).toEqual(answers.map((_, n) => (n === won ? 200 : 400)))
    expect(await list(made)).toEqual([`own ${won}`, 'same'])
  })

  it('different names are all kept, each with a column of its own', async () => {
    const made = await makeSheet()
    await Promise.all(Array.from({ length: 10 }, (_, n) => made.org.call('POST', made.path, [text(`n${n}`)])))
    expect((await list(made)).sort()).toEqual(Array.from({ length: 10 }, (_, n) => `n${n}`))
    expect((await columns(made)).map(([, column]) => column)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })
})

describe('4.4 Delete Input', () => {
  it.each(UNUSUAL)('returns the remaining inputs: %s', async (name) => {
    const made = await makeSheet()
    await made.org.call('POST', made.path, [text('before'), text(name), text('after')])
    const { status, body } = await made.org.call('DELETE', `${made.path}/${encodeURIComponent(name)}`)
    expect([status, names(body.data)]).toEqual([200, ['before', 'after']])
    expect(await list(made)).toEqual(['before', 'after'])
  })

  it.each(['unknown', 'EMAIL', '__proto__', 'constructor', '%20', '%25', 'n'.repeat(5000)])(
    'an unknown name is 404: %s',
    async (name) => {
      const made = await makeSheet()
      await made.org.call('POST', made.path, [text('Email')])
      const { status, body } = await made.org.call('DELETE', `${made.path}/${name}`)
      expect([status, body.error, body.message]).toEqual([404, 'Not Found', 'Input not found'])
      expect(await list(made)).toEqual(['Email'])
    },
  )

  it.each(['%00', 'Email%0A%00'])('nothing has a name with NUL: %s is 404', async (name) => {
    const made = await makeSheet()
    expect((await made.org.call('DELETE', `${made.path}/${name}`)).status).toBe(404)
  })

  it('a padded name is trimmed; deleting again is 404; the change is audited', async () => {
    const made = await makeSheet()
    await made.org.call('POST', made.path, [text('a b')])
    expect((await made.org.call('DELETE', `${made.path}/%20a%20b%20`)).status).toBe(200)
    expect((await made.org.call('DELETE', `${made.path}/a%20b`)).status).toBe(404)
    const audit = await app.store.system
      .selectFrom('audit_entries')
      .select('details')
      .where('action', '=', 'input.deleted')
      .where('target', '=', made.id)
      .execute()
    expect(audit).toEqual([{ details: { name: 'a b' } }])
  })

  it('a column number is never used again', async () => {
    const made = await makeSheet()
    const { org, path } = made
    await org.call('POST', path, [text('a'), text('b')])
    await org.call('DELETE', `${path}/b`)
    await org.call('POST', path, [text('b'), text('c')])
    expect(await columns(made)).toEqual([
      ['a', 1],
      ['b', 3],
      ['c', 4],
    ])
  })

  it('D20: every change is a new revision, and the old ones stay as they were', async () => {
    const made = await makeSheet()
    await made.org.call('POST', made.path, [text('a')])
    await made.org.call('POST', made.path, [text('a')])
    await made.org.call('DELETE', `${made.path}/a`)
    const revisions = await app.store.system
      .selectFrom('chain_revisions')
      .select(['revision', 'definition'])
      .where('sheet_id', '=', made.id)
      .orderBy('revision')
      .execute()
    expect(revisions.map((entry) => [entry.revision, names(entry.definition.inputs)])).toEqual([
      [1, []],
      [2, ['a']],
      [3, []],
    ])
  })
})
