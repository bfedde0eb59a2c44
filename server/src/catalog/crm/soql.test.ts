import { describe, expect, it } from 'vitest'
import { NumberText } from '../../lib/json/lossless-json.ts'
import type { FieldValue } from './field-values.ts'
import { isFieldPath, isName, printQuery, requote, toConditions } from './soql.ts'

const conditionsOf = (values: Record<string, FieldValue>) => toConditions(new Map(Object.entries(values)))
const whereOf = (values: Record<string, FieldValue>, exact = true, operator: 'AND' | 'OR' = 'AND') => {
  const query = { object: 'Account', select: [], conditions: conditionsOf(values), operator, exact, limit: 5 }
  const [, where] = /^SELECT FIELDS\(ALL\) FROM Account WHERE (.*) LIMIT 5$/s.exec(printQuery(query)) ?? []
  return where
}

describe('SOQL', () => {
  it.each<[string, Record<string, FieldValue>, boolean, string]>([
    ['a text', { Name: 'Acme' }, true, "Name = 'Acme'"],
    ['a quote', { Name: "x' OR Name != '" }, true, String.raw`Name = 'x\' OR Name != \''`],
    ['a backslash before a quote', { Name: "\\' OR 1" }, true, String.raw`Name = '\\\' OR 1'`],
    ['a line end', { Name: 'a\r\n\tb"c' }, true, String.raw`Name = 'a\r\n\tb\"c'`],
    ['a part', { Name: 'Ac' }, false, "Name LIKE '%Ac%'"],
    ['wildcards in a part', { Name: "50%_\\'" }, false, String.raw`Name LIKE '%50\%\_\\\'%'`],
    ['nothing', { Website: null }, true, 'Website = null'],
    ['a number', { Size__c: 5 }, false, 'Size__c = 5'],
    [
      'a long number',
      { Key__c: new NumberText('12345678901234567890') },
      true,
      'Key__c = 12345678901234567890',
    ],
    ['a number that SOQL does not know', { Key__c: 1e300 }, true, "Key__c = '1e+300'"],
    ['a boolean', { IsOpen: true }, true, 'IsOpen = true'],
    ['several', { Name: 'a', Website: 'b' }, true, "Name = 'a' AND Website = 'b'"],
  ])('%s', (_name, values, exact, where) => {
    expect(whereOf(values, exact)).toBe(where)
  })

  it('any of several', () => {
    expect(whereOf({ Name: 'a', Website: 'b' }, true, 'OR')).toBe("Name = 'a' OR Website = 'b'")
  })

  it('given fields, with the id once', () => {
    const query = {
      object: 'Lead',
      conditions: conditionsOf({ Name: 'a' }),
      operator: 'AND',
      exact: true,
    } as const
    expect(printQuery({ ...query, select: ['Name', 'Id', 'Owner.Name'], limit: 1 })).toBe(
      "SELECT Id, Name, Owner.Name FROM Lead WHERE Name = 'a' LIMIT 1",
    )
  })

  it.each(['', 'a b', "a'", '1a', 'a.b', 'Account WHERE', 'a-b', 'a\n', '_a', 'ä'])(
    '%j is no name',
    (text) => {
      expect(isName(text)).toBe(false)
    },
  )

  it('a field may be one of another record', () => {
    expect(['Name', 'Owner.Name', 'A__r.B__c', '.a', 'a.', 'a..b'].map(isFieldPath)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  const refusal = (name: string, type: string, not = '') =>
    `value of filter criterion for field '${name}' must be of type ${type} and should ${not}be enclosed in quotes`

  it.each<[string, Record<string, FieldValue>, string, string | null]>([
    ['a number', { Size__c: '5' }, refusal('Size__c', 'double', 'not '), 'Size__c = 5'],
    ['a date', { Day__c: '2026-01-02' }, refusal('Day__c', 'date', 'not '), 'Day__c = 2026-01-02'],
    ['a text of digits', { Phone: 5550100 }, refusal('Phone', 'string'), "Phone = '5550100'"],
    ['a field of another record', { 'Owner.Age': '5' }, refusal('Age', 'int', 'not '), 'Owner.Age = 5'],
    ['what is no number', { Size__c: '5 OR Id != null' }, refusal('Size__c', 'double', 'not '), null],
    ['another field', { Name: '5' }, refusal('Size__c', 'double', 'not '), null],
    ['another refusal', { Name: '5' }, 'No such column', null],
  ])('quotes as Salesforce asks for them: %s', (_name, values, message, where) => {
    const next = requote(conditionsOf(values), message)
    const query = { object: 'A', select: ['Id'], operator: 'AND', exact: true, limit: 1 } as const
    const printed = next === null ? null : printQuery({ ...query, conditions: next })
    expect(printed).toBe(where === null ? null : `SELECT Id FROM A WHERE ${where} LIMIT 1`)
    // The same refusal again does not reverse the quotes.
    if (next !== null) expect(requote(next, message)).toBeNull()
  })
})
