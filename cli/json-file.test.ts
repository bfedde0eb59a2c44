import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { GivenInputs } from '#contract/shortcuts.ts'
import { NumberText } from '#server/lib/json/lossless-json.ts'
import { readJsonFile, readJsonRows } from './json-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-json-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(text: string): string {
  const path = join(folder, 'file.json')
  writeFileSync(path, text)
  return path
}

function faultsOf(path: string): unknown {
  try {
    return readJsonFile(path, 'inputs', GivenInputs)
  } catch (cause) {
    return cause
  }
}

it.each([
  [
    'no file',
    join(folder, 'nowhere.json'),
    [{ field: 'inputs', message: expect.stringContaining('ENOENT') }],
  ],
  ['no JSON', file('['), [{ field: 'inputs', message: expect.stringContaining('valid JSON') }]],
])('%s is an error of the flag', (_what, path, errors) => {
  expect(faultsOf(path)).toMatchObject({ code: 'Validation Error', details: { errors } })
})

it('every error in the content is reported with its place', () => {
  expect(faultsOf(file('[{"type":"time"},{"name":"a","foo":1},{"reference":"Not Snake"}]'))).toMatchObject({
    details: {
      errors: [
        {
          field: 'inputs[0].type',
          message: 'must be one of: string, url, email, number, date, boolean, select',
        },
        { field: 'inputs[1]', message: 'not accepted: foo' },
        { field: 'inputs[2].reference', message: 'must be snake_case' },
      ],
    },
  })
  expect(faultsOf(file('{}'))).toMatchObject({ details: { errors: [{ field: 'inputs' }] } })
})

it('numbers in rows keep every digit', () => {
  expect(readJsonRows(file('[{"n":12345678901234567890}]'), 'rows')).toEqual([
    { n: new NumberText('12345678901234567890') },
  ])
})
