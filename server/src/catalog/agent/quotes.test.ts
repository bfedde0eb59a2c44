import { describe, expect, it } from 'vitest'
import { holdsValue, isQuoted } from './quotes.ts'

const PAGE =
  'We are **Acme**, “the anvil people”.\n\nSee [our team](https://acme.example/team): 1.250 people in 3 cities.'

describe('a quote', () => {
  it.each([
    'We are Acme',
    'we are  acme, "the anvil people"',
    'the anvil people”. See our team: 1.250 people',
    '1.250 people in 3 cities',
  ])('stands on the page: %s', (quote) => expect(isQuoted(quote, PAGE)).toBe(true))

  it.each(['We were Acme', 'anvil peop', '250 people in 3', 'our team https', '', 'a', '   '])(
    'does not: %s',
    (quote) => expect(isQuoted(quote, PAGE)).toBe(false),
  )

  it.each<[string, unknown, boolean]>([
    ['about 1,250 people', 1250, true],
    ['rund 1.250 Leute', 1250, true],
    ['a revenue of 2.5 million', 2_500_000, true],
    ['12k users', 12_000, true],
    ['in 1999', 1250, false],
    ['led by Ada Byron', 'ada byron', true],
    ['led by Ada', 'Ada Byron', false],
    ['Berlin, Paris and Rome', ['Rome', 'Berlin'], true],
    ['Berlin and Paris', ['Rome', 'Berlin'], false],
  ])('%s holds %s: %s', (quote, value, expected) => expect(holdsValue(quote, value)).toBe(expected))

  it.each(['[', '[a](', '![', 'a '])('is looked for in a page of %j without end', (part) => {
    expect(isQuoted('We are Acme', `${part.repeat(1_000_000 / part.length)} We are Acme`)).toBe(true)
  })
})
