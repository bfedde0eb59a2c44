import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Lookup,
  parseTemplate,
  printToken,
  resolveTemplate,
  resolveValue,
  type Template,
  type Token,
} from './references.ts'

const input = (name: string): Token => ({ kind: 'input', name })
const output = (action: string, name: string): Token => ({ kind: 'output', action, name })
const column = (action: string, list: string, column: string): Token => ({
  kind: 'column',
  action,
  list,
  column,
})
const env = (key: string): Token => ({ kind: 'env', key })

const tokensOf = (template: Template) =>
  template.flatMap((part) => (part.kind === 'token' ? [part.token] : []))
const malformedOf = (template: Template) =>
  template.flatMap((part) => (part.kind === 'text' && part.malformed ? [part.text] : []))

describe('the four token forms', () => {
  it.each<[string, Token]>([
    ['{{input.domain}}', input('domain')],
    ['{{input.First Name}}', input('First Name')],
    ['{{input.a.b}}', input('a.b')],
    ['{{input..}}', input('.')],
    ['{{input.env.x}}', input('env.x')],
    ['{{input.Größe (m²)}}', input('Größe (m²)')],
    ['{{input.__proto__}}', input('__proto__')],
    ['{{ input.domain }}', input('domain')],
    ['{{\n\tinput.domain\n}}', input('domain')],
    ['{{input. domain }}', input('domain')],
    ['{{http_api_call_1.status_code}}', output('http_api_call_1', 'status_code')],
    ['{{records_ingest_12.Accepted}}', output('records_ingest_12', 'Accepted')],
    ['{{graph.x}}', output('graph', 'x')],
    ['{{ merge_lists_1.list }}', output('merge_lists_1', 'list')],
    ['{{merge_lists_1.list.name}}', column('merge_lists_1', 'list', 'name')],
    ['{{merge_lists_1.list.First Name}}', column('merge_lists_1', 'list', 'First Name')],
    ['{{merge_lists_1.list.a.b}}', column('merge_lists_1', 'list', 'a.b')],
    ['{{env.API_KEY}}', env('API_KEY')],
    ['{{env._k2}}', env('_k2')],
  ])('%s is a token', (text, token) => {
    expect(parseTemplate(text)).toEqual([{ kind: 'token', token, source: text }])
  })

  it.each([
    '{{foo}}',
    '{{}}',
    '{{ }}',
    '{{ a b }}',
    '{{input}}',
    '{{input.}}',
    '{{input. }}',
    '{{.x}}',
    '{{INPUT.x}}',
    '{{Http_1.x}}',
    '{{http-1.x}}',
    '{{http_1.}}',
    '{{http_1..x}}',
    '{{http_1.list.}}',
    '{{env.}}',
    '{{env.a.b}}',
    '{{env.1a}}',
    '{{env.a b}}',
    '{{input.a\u0000b}}',
    '{{input.a\tb}}',
    '{{input.x}',
    '{{input.x',
    '{{',
  ])('%j is literal text, reported as malformed', (text) => {
    expect(parseTemplate(text)).toEqual([{ kind: 'text', text, malformed: true }])
  })

  it.each(['', 'plain', '{', '}', '}}', '{input.x}', '{ {input.x} }', 'a}}b', '{"a":{"b":1}}'])(
    '%j is literal text with nothing to report',
    (text) => {
      expect(parseTemplate(text)).toEqual(text === '' ? [] : [{ kind: 'text', text }])
    },
  )

  it.each<[string, Token[], string[]]>([
    ['Hello {{input.name}} of {{x_1.company}}!', [input('name'), output('x_1', 'company')], []],
    ['{{input.a}}{{input.a}}', [input('a'), input('a')], []],
    ['{{{input.a}}}', [input('a')], []],
    ['{"a":{{input.a}}}', [input('a')], []],
    ['{{{{input.a}}}}', [input('a')], []],
    ['{{foo{{input.a}}', [input('a')], ['{{foo']],
    ['{{foo}{{input.a}}', [input('a')], ['{{foo}']],
    ['{{foo}} {{input.a}} {{bar', [input('a')], ['{{foo}}', '{{bar']],
    ['{{input.{{input.a}}}}', [input('a')], ['{{input.']],
  ])('%s mixes tokens with text', (text, tokens, malformed) => {
    const template = parseTemplate(text)
    expect(tokensOf(template)).toEqual(tokens)
    expect(malformedOf(template)).toEqual(malformed)
    expect(printTemplate(template)).toBe(text)
  })
})

describe('resolving', () => {
  const values: Record<string, unknown> = {
    text: 'Ada',
    empty: null,
    count: 3,
    yes: true,
    list: [1, 'two', null],
    object: { a: [1] },
    braces: '{{input.text}}',
    half: '{{input.',
  }
  const lookup: Lookup = (token) =>
    token.kind === 'input' && Object.hasOwn(values, token.name)
      ? { found: true, value: values[token.name] }
      : { found: false }

  it.each<[string, string]>([
    ['no token', 'no token'],
    ['Hi {{input.text}}!', 'Hi Ada!'],
    ['[{{input.empty}}]', '[]'],
    ['{{input.count}} of {{input.yes}}', '3 of true'],
    ['x={{input.list}}', 'x=[1,"two",null]'],
    ['x={{input.object}}', 'x={"a":[1]}'],
    ['{"n":{{input.count}}}', '{"n":3}'],
    ['{{foo}} {{input.text}}', '{{foo}} Ada'],
    ['>{{input.braces}}<', '>{{input.text}}<'],
    ['{{input.half}}text}}', '{{input.text}}'],
    ['{{{input.text}}}', '{Ada}'],
    ['{{input.empty}}', ''],
    ['{{input.list}}', '[1,"two",null]'],
  ])('%s gives %s', (text, value) => {
    expect(resolveTemplate(parseTemplate(text), lookup)).toEqual({ value, missing: [] })
  })

  it.each(['text', 'empty', 'count', 'yes', 'list', 'object', 'braces'])(
    'a template that is exactly one token gives the raw value: %s',
    (name) => {
      const { value, missing } = resolveValue(parseTemplate(`{{ input.${name} }}`), lookup)
      expect(value).toBe(values[name])
      expect(missing).toEqual([])
    },
  )

  it.each([' {{input.list}}', '{{input.list}}{{input.list}}', 'x', ''])(
    '%j is not exactly one token and gives text',
    (text) => {
      const template = parseTemplate(text)
      expect(resolveValue(template, lookup)).toEqual(resolveTemplate(template, lookup))
    },
  )

  it('D33: an unknown token is reported each time it occurs', () => {
    const template = parseTemplate('{{input.nope}}-{{env.x}}-{{input.nope}}')
    const missing = [input('nope'), env('x'), input('nope')]
    expect(resolveTemplate(template, lookup)).toEqual({ value: '--', missing })
    expect(resolveValue(parseTemplate('{{env.x}}'), lookup)).toEqual({ value: '', missing: [env('x')] })
  })
})

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) => text.replaceAll(/[{}\p{Cc}]/gu, '').trim())
  .filter((text) => text !== '')
const segment = name.map((text) => text.replaceAll('.', '').trim()).filter((text) => text !== '')
const instance = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}_[1-9]$/)
const canonicalToken: fc.Arbitrary<Token> = fc.oneof(
  name.map(input),
  fc.tuple(instance, segment).map(([action, name]) => output(action, name)),
  fc.tuple(instance, segment, name).map(([action, list, name]) => column(action, list, name)),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}$/).map(env),
)
const fragments = [
  '{|{|}|}|{{|{{|}}|}}|{{input.|{{env.|input.|env.|x_1.|x_1.list.|.| |a|name|\n|\u0000|é|\ud800'.split('|'),
  ['{{input.a}}', '{{x_1.y}}', '{{x_1.l.c}}', '{{env.K}}'],
].flat()
const noise = fc.array(fc.constantFrom(...fragments), { maxLength: 12 }).map((parts) => parts.join(''))

describe('properties', () => {
  it('parse(print(token)) = token for every canonical token', () => {
    fc.assert(
      fc.property(canonicalToken, (token) => {
        const source = printToken(token)
        expect(parseTemplate(source)).toEqual([{ kind: 'token', token, source }])
      }),
      { numRuns: 3000 },
    )
  })

  it('print(parse(text)) = text for every text', () => {
    fc.assert(
      fc.property(fc.oneof(noise, fc.string({ unit: 'binary' })), (text) => {
        expect(printTemplate(parseTemplate(text))).toBe(text)
      }),
      { numRuns: 3000 },
    )
  })

  it('100,000 random strings: never an exception, never a double expansion', () => {
    // A value made of tokens and loose braces, so that a second expansion would be visible.
    const value = '{{input.a}}{{{env.K}}}}{{'
    let expanded = 0
    fc.assert(
      fc.property(noise, (text) => {
        const lookups: string[] = []
        const { value: result, missing } = resolveTemplate(parseTemplate(text), (token) => {
          lookups.push(printToken(token))
          return { found: true, value }
        })
        const model = text.replaceAll(/\{\{([^{}]*)\}\}/g, (source, content: string) =>
          isReference(content.trim()) ? value : source,
        )
        expanded += lookups.length
        return result === model && missing.length === 0
      }),
      { numRuns: 100_000 },
    )
    expect(expanded).toBeGreaterThan(50_000)
  })

  it.each<[string, (size: number) => string]>([
    ['opening braces', (size) => '{'.repeat(size)],
    ['closing braces', (size) => '}'.repeat(size)],
    ['open references', (size) => '{{input.'.repeat(size / 8)],
    ['one long open reference', (size) => `{{input.${'a'.repeat(size)}`],
    ['blanks', (size) => `{{${' '.repeat(size)}}}`],
    ['blanks inside', (size) => `{{input.a${' '.repeat(size)}b}}`],
    ['tokens', (size) => '{{input.a}}'.repeat(size / 11)],
    ['malformed ones', (size) => '{{a}'.repeat(size / 4)],
  ])('time grows linearly with %s', async (_, make) => {
    const [small, large] = [make(25_000), make(400_000)]
    // The text is 16 times as long. Quadratic time would be 256 times as much. On a busy machine the long one may be
    // interrupted every time.
    await expect.poll(() => shortest(large) / shortest(small)).toBeLessThan(200)
  })
})

/** Prints the text that a template was parsed from. */
function printTemplate(template: Template): string {
  return template.map((part) => (part.kind === 'text' ? part.text : part.source)).join('')
}

/** Matches the grammar with one expression, to compare the parser with. */
function isReference(content: string): boolean {
  if (/\p{Cc}/u.test(content)) return false
  return (
    /^input\s*\.\s*\S/u.test(content) ||
    /^env\s*\.\s*[A-Za-z_][A-Za-z0-9_]*$/u.test(content) ||
    /^(?!(?:input|env)\s*\.)[a-z0-9_]+\s*\.\s*(?:[^.\s]|[^.\s][^.]*[^.\s])(?:\s*\.\s*\S.*)?$/su.test(content)
  )
}

/** Returns the shortest of several runs in milliseconds: other work on the machine only makes a run longer. */
function shortest(text: string): number {
  const runs = Array.from({ length: 7 }, () => {
    const start = performance.now()
    resolveTemplate(parseTemplate(text), () => ({ found: true, value: 'v' }))
    return performance.now() - start
  })
  return Math.max(0.01, Math.min(...runs))
}
