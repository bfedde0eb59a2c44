import { describe, expect, it } from 'vitest'
import { parseFilter } from './filter.ts'
import { filterOf, where } from './testing/segments.ts'
import { judge, judgeEvents, judgeValues } from './verdict.ts'

const FIRST = 'filter[0].conditions[0]'

describe('D62: the shape of a filter', () => {
  it.each<[string, unknown, string, string]>([
    ['no array', { a: 1 }, 'filter', 'must be an array of condition groups'],
    ['no groups', [], 'filter', 'must hold at least one condition group'],
    ['a group of nothing', [{ conditions: [] }], 'filter[0].conditions', 'must hold at least one condition'],
    ['no object', filterOf(7), FIRST, 'must be an object'],
    [
      'an unknown operator',
      filterOf(where('a', 'like', 'b')),
      `${FIRST}.operator`,
      'must be one of: is, is not',
    ],
    ['a missing value', filterOf({ variable: 'a', operator: 'is' }), `${FIRST}.values`, 'required'],
    ['an unknown key', filterOf({ ...where('a', 'is', 'b'), valeus: 1 }), `${FIRST}.valeus`, 'not accepted'],
    ['a window of nothing', filterOf({ event: 'e', within_days: 0 }), `${FIRST}.within_days`, 'more than 0'],
    ['a count that says nothing', filterOf({ event: 'e', at_least: 0 }), `${FIRST}.at_least`, 'at least 1'],
    ['bounds in disorder', filterOf({ event: 'e', at_least: 3, at_most: 2 }), `${FIRST}.at_most`, 'at_least'],
    ['no other end', filterOf({ relationship: 'r' }), `${FIRST}.to`, 'must name the kind at the other end'],
    ['both ends', filterOf({ relationship: 'r', to: 'company', from: 'person' }), `${FIRST}.to`, 'must name'],
    [
      'a fault inside of where',
      filterOf({ relationship: 'r', to: 'company', where: filterOf(where('a', 'like', 'b')) }),
      `${FIRST}.where[0].conditions[0].operator`,
      'must be one of',
    ],
    [
      'a relationship inside of where',
      filterOf({ relationship: 'r', to: 'company', where: filterOf({ relationship: 'r', to: 'person' }) }),
      `${FIRST}.where[0].conditions[0].relationship`,
      'not accepted',
    ],
    [
      'very many',
      filterOf(...Array.from({ length: 51 }, () => where('a', 'is', 'b'))),
      'filter',
      'at most 50',
    ],
    ['a very long value', filterOf(where('a', 'is', 'x'.repeat(2001))), `${FIRST}.values`, 'at most 2000'],
  ])('%s is refused at its place', (_name, raw, field, message) => {
    const parsed = parseFilter(raw)
    expect(parsed).toMatchObject({ ok: false })
    expect(parsed.ok ? [] : parsed.errors).toContainEqual({
      field,
      message: expect.stringContaining(message),
    })
  })
})

describe('when time changes an answer', () => {
  const within = 100
  it.each<[string, { atLeast: number; atMost: number }, number[], number | null, boolean, number | null]>([
    ['the only event leaves', { atLeast: 1, atMost: Infinity }, [950], null, true, 1050],
    ['the second latest decides', { atLeast: 2, atMost: Infinity }, [990, 950, 910], null, true, 1050],
    ['too few, and none ahead', { atLeast: 2, atMost: Infinity }, [990], null, false, null],
    ['too few, and one ahead', { atLeast: 2, atMost: Infinity }, [990], 1010, false, 1010],
    ['none, and none may be', { atLeast: 0, atMost: 0 }, [], null, true, null],
    ['none, until one happens', { atLeast: 0, atMost: 0 }, [], 1020, true, 1020],
    ['one too many', { atLeast: 0, atMost: 1 }, [990, 960], 1020, false, 1060],
    ['enough, and more ahead changes nothing', { atLeast: 1, atMost: Infinity }, [950], 1010, true, 1050],
  ])('%s', (_name, bounds, times, next, holds, changesAt) => {
    expect(judgeEvents(bounds, within, { times, next })).toMatchObject({ holds, changesAt })
  })

  it('an entity is not checked by time if other conditions already decide', () => {
    const outcome = (holds: boolean, changesAt: number | null) => ({
      outcome: { holds, changesAt, seen: null },
    })
    expect(judge([{ conditions: [outcome(false, null), outcome(true, 5)] }])).toMatchObject({
      holds: false,
      changesAt: null,
    })
    expect(judge([{ conditions: [outcome(true, null), outcome(true, 5)] }])).toMatchObject({
      holds: true,
      changesAt: 5,
    })
    const either = { combinator: 'OR' as const, conditions: [outcome(true, null)] }
    expect(judge([{ conditions: [outcome(true, 5)] }, either])).toMatchObject({
      holds: true,
      changesAt: null,
    })
  })
})

describe('identifiers', () => {
  it.each<
    [string, 'is' | 'is not' | 'contains' | 'does not contain' | 'is empty', string[], string, boolean]
  >([
    ['one of several passes', 'is', ['a.com', 'b.com'], 'b.com', true],
    ['none of several passes', 'is', ['a.com', 'b.com'], 'c.com', false],
    ['is not: one of them is', 'is not', ['a.com', 'b.com'], 'b.com', false],
    ['does not contain: none does', 'does not contain', ['a.com', 'b.com'], 'x', true],
    ['none at all is empty', 'is empty', [], '', true],
    ['some are not empty', 'is empty', ['a.com'], '', false],
    ['none at all is not anything', 'is not', [], 'a.com', true],
  ])('%s', (_name, operator, seen, value, holds) => {
    expect(judgeValues(operator, seen, [value]).holds).toBe(holds)
  })
})
