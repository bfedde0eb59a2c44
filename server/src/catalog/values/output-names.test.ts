import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTemplate, printToken, soleToken } from '../chain/references.ts'
import { nameColumns, nameOutputs, snakeCase } from './output-names.ts'

describe('names of outputs', () => {
  it.each([
    ['First Name', 'first_name'],
    ['firstName', 'first_name'],
    ['HTTPStatus', 'http_status'],
    ['address2Line', 'address2_line'],
    ['already_snake', 'already_snake'],
    ['@odata.count', 'odata_count'],
    ['_id', 'id'],
    ['  x-y  ', 'x_y'],
    ['Straße', 'straße'],
    ['名前', '名前'],
    ['{}', 'field'],
    ['', 'field'],
    ['__proto__', 'proto'],
  ])('%j is %j', (key, name) => expect(snakeCase(key)).toBe(name))

  it('that collide get numbers, and keys that are already names stay unchanged', () => {
    expect(
      nameOutputs({ 'First Name': 1, firstName: 2, first_name: 3, status_code: 4 }, ['status_code']),
    ).toEqual({
      first_name_2: 1,
      first_name_3: 2,
      first_name: 3,
      status_code_2: 4,
    })
  })

  it('all fit into a token for any keys, and no value is lost', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.integer()), (source) => {
        const named = nameOutputs(source)
        expect(new Set(Object.values(named))).toEqual(new Set(Object.values(source)))
        expect(Object.keys(named)).toHaveLength(Object.keys(source).length)
        for (const name of Object.keys(named)) {
          const token = { kind: 'output', action: 'x_1', name } as const
          expect(soleToken(parseTemplate(printToken(token)))).toEqual(token)
        }
      }),
    )
  })
})

describe('names of columns', () => {
  it('are the keys if they fit into a token', () => {
    const list = [{ 'First Name': 'Ann', 'a.b': 1 }, 'x', null]
    expect(nameColumns(list)).toBe(list)
  })

  it('are the same in every item if they had to change', () => {
    expect(nameColumns([{ 'a{b}': 1, ' c ': 2 }, { c: 3, 'a{b}': 4 }, 5])).toEqual([
      { a_b: 1, c_2: 2 },
      { c: 3, a_b: 4 },
      5,
    ])
  })

  it('can all be said by a token', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string({ unit: 'binary-ascii' }), fc.integer())), (list) => {
        for (const column of nameColumns(list).flatMap((item) => Object.keys(Object(item)))) {
          const token = { kind: 'column', action: 'x_1', list: 'items', column } as const
          expect(soleToken(parseTemplate(printToken(token)))).toEqual(token)
        }
      }),
    )
  })
})
