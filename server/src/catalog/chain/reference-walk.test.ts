import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listMalformed, listTokens, mapStrings } from './reference-walk.ts'

const configuration = {
  endpoint: 'https://{{input.domain}}/{{ x_1.path }}',
  body: [
    { name: 'q', value: '{{x_2.list.First Name}}' },
    { name: '{{foo}}', value: '{{input.domain' },
  ],
  'odd key {{input.k}}': { deep: [[null, 3, true, '{{env.K}}']] },
}

describe('listTokens', () => {
  it('finds the tokens of every nested string, in order, with the path', () => {
    expect(listTokens(configuration)).toEqual([
      { path: 'endpoint', token: { kind: 'input', name: 'domain' }, source: '{{input.domain}}' },
      { path: 'endpoint', token: { kind: 'output', action: 'x_1', name: 'path' }, source: '{{ x_1.path }}' },
      {
        path: 'body[0].value',
        token: { kind: 'column', action: 'x_2', list: 'list', column: 'First Name' },
        source: '{{x_2.list.First Name}}',
      },
      { path: 'odd key {{input.k}}.deep[0][3]', token: { kind: 'env', key: 'K' }, source: '{{env.K}}' },
    ])
  })

  it('starts paths with the given one', () => {
    expect(listTokens(['{{env.K}}'], 'inputs.body').map(({ path }) => path)).toEqual(['inputs.body[0]'])
    expect(listTokens('{{env.K}}', 'inputs.body').map(({ path }) => path)).toEqual(['inputs.body'])
  })

  it.each([[null], [undefined], [3], [true], [''], [{}], [[]]])('finds none in %j', (value) => {
    expect(listTokens(value)).toEqual([])
  })
})

describe('listMalformed', () => {
  it('finds texts that look like a token but are none', () => {
    expect(listMalformed(configuration)).toEqual([
      { path: 'body[1].name', source: '{{foo}}' },
      { path: 'body[1].value', source: '{{input.domain' },
    ])
  })
})

describe('mapStrings', () => {
  it('changes every nested string, and no keys, other values or the given value itself', () => {
    const before = structuredClone(configuration)
    expect(mapStrings(configuration, (text) => text.toUpperCase())).toEqual({
      endpoint: 'HTTPS://{{INPUT.DOMAIN}}/{{ X_1.PATH }}',
      body: [
        { name: 'Q', value: '{{X_2.LIST.FIRST NAME}}' },
        { name: '{{FOO}}', value: '{{INPUT.DOMAIN' },
      ],
      'odd key {{input.k}}': { deep: [[null, 3, true, '{{ENV.K}}']] },
    })
    expect(configuration).toEqual(before)
  })

  it('with no change is a copy of any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(mapStrings(value, (text) => text)).toEqual(value)
      }),
    )
  })

  it('D33: the result of a change is not walked again', () => {
    const grown = mapStrings(['a', { k: 'b' }], (text) => [text, { again: text }])
    expect(grown).toEqual([['a', { again: 'a' }], { k: ['b', { again: 'b' }] }])
    expect(mapStrings('a', () => ['a'])).toEqual(['a'])
  })

  it('keeps a key named __proto__ a key', () => {
    const value: unknown = JSON.parse('{"__proto__": {"x": "a"}}')
    expect(JSON.stringify(mapStrings(value, (text) => `${text}!`))).toBe('{"__proto__":{"x":"a!"}}')
    expect('x' in {}).toBe(false)
  })

  it('walks a value nested 100,000 levels deep', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}"{{env.K}}"${']'.repeat(100_000)}`)
    expect(listTokens(deep)).toHaveLength(1)
    expect(listTokens(mapStrings(deep, () => '{{env.Z}}'))[0]?.source).toBe('{{env.Z}}')
  })
})
