import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FIELD_KINDS } from '#contract/actions.ts'
import { type Action, defineAction } from './define.ts'
import { field } from './fields/fields.ts'
import { done } from './outcome.ts'
import { output } from './outputs.ts'
import { createCatalogue, loadCatalogue } from './registry.ts'

const define = (id: string, name = 'result'): Action =>
  defineAction({
    id,
    name: 'Test',
    description: 'A test.',
    category: 'data',
    inputs: { value: field.text({ label: 'Value', help: 'A value.' }) },
    outputs: { [name]: output.text('A result.') },
    run: () => done({ [name]: '' }),
  })

describe('the catalogue', () => {
  it('is the folder of definitions: one file, one action', async () => {
    const catalogue = await loadCatalogue()
    const files = readdirSync(new URL('actions/', import.meta.url)).filter(
      (file) => !file.endsWith('.test.ts'),
    )
    expect(catalogue.list().map(({ id }) => `${id}.ts`)).toEqual(files.sort())
    expect(catalogue.get('filter')).toMatchObject({ id: 'filter', credits: 0 })
    expect(catalogue.get('no_such_action')).toBeUndefined()
  })

  it('offers an order for every list of providers that are called one after the other', async () => {
    const asking = (await loadCatalogue())
      .list()
      .filter(({ inputs }) => Object.values(inputs).some(({ waterfall }) => waterfall !== undefined))
    expect(asking.length).toBeGreaterThan(10)
    expect(asking.filter(({ inputs }) => inputs['order'] !== field.waterfallOrder)).toEqual([])
  })

  it('names every field for people: a label, one line of help, and a group (H1)', async () => {
    for (const { id, inputs } of (await loadCatalogue()).list()) {
      const fields = Object.entries(inputs)
      const labels = fields.map(([, { label }]) => label)
      expect(new Set(labels).size, id).toBe(labels.length)
      for (const [name, { label, help, placeholder, group, kind, required }] of fields) {
        const where = `${id}.${name}`
        expect(label, where).toMatch(/^[A-Z][^_]{1,39}$/)
        expect(help, where).toMatch(/^[A-Z][^\n`{}]{5,159}$/)
        expect(help, where).not.toMatch(/[a-z]_[a-z]/)
        expect(placeholder, where).not.toBe('')
        expect(FIELD_KINDS, where).toContain(kind)
        if (required) expect(group, where).toBe('main')
      }
    }
  })

  it('holds the core actions, which shape data or control the row and cost nothing (D22)', async () => {
    const catalogue = await loadCatalogue()
    const free = catalogue.list().filter(({ credits }) => credits === 0)
    expect(free.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'auto_dedupe_rows',
        'delay_step',
        'filter',
        'format_data_using_js_expression',
        'http_api_call',
        'lookup_rows_in_sheet',
        'merge_lists',
        'normalize_domain',
        'parse_phone_number',
        'raw_to_structured_array',
        'send_to_sheet',
        'split_full_name',
      ]),
    )
  })

  it.each([
    [
      'no default export',
      [{ file: 'a.ts', module: {} }],
      'actions/a.ts must export a default made by defineAction',
    ],
    [
      'an object that defineAction did not make',
      [{ file: 'a.ts', module: { default: { ...define('a') } } }],
      'actions/a.ts must export a default made by defineAction',
    ],
    [
      'an id that is not the name of the file',
      [{ file: 'b.ts', module: { default: define('a') } }],
      'actions/b.ts defines a, so its name must be a.ts',
    ],
    [
      'two files with one id',
      ['a.ts', 'copy.ts'].map((file) => ({ file, module: { default: define('a') } })),
      'actions/copy.ts defines a, which another file defines already',
    ],
    ...['input', 'graph', 'env', 'Upper', '1st'].map(
      (id): [string, { file: string; module: unknown }[], string] => [
        `the id ${id}`,
        [{ file: `${id}.ts`, module: { default: define(id) } }],
        `actions/${id}.ts: ${id} cannot be the id of an action`,
      ],
    ),
    [
      'an output that is not snake_case',
      [{ file: 'a.ts', module: { default: define('a', 'workEmail') } }],
      'actions/a.ts: output workEmail must be snake_case',
    ],
  ])('refuses to start with %s', (_what, definitions, message) => {
    expect(() => createCatalogue(definitions)).toThrow(message)
  })
})
