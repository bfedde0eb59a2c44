import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTemplate } from '../chain/references.ts'
import { bindTokens } from './binding.ts'

const A = '{{input.a}}'
const bind = (text: string) => {
  const bound = bindTokens(parseTemplate(text))
  return bound.ok ? { code: bound.code, as: bound.bindings.map(({ as }) => as) } : bound.message
}

describe('a token in an expression becomes a variable', () => {
  it.each([
    ['in code', `${A}.trim()`, ' __v0 .trim()'],
    ['twice', `${A} + {{x_1.b}}`, ' __v0  +  __v1 '],
    ['in an object', `({a: ${A}})`, '({a:  __v0 })'],
    ['in a hole of a template', '`x${' + A + '}y`', '`x${ __v0 }y`'],
    ['in an object in a hole', '`${f({a: {b: ' + A + '}})}` + ' + A, '`${f({a: {b:  __v0 }})}` +  __v1 '],
    [
      'after a regular expression with quotes',
      `x.replace(/["'\`/]/g, ${A})`,
      `x.replace(/["'\`/]/g,  __v0 )`,
    ],
    ['after a class with a slash', `/[/"]/.test(${A})`, '/[/"]/.test( __v0 )'],
    ['after return', `(() => { return /"/.test(${A}) })()`, '(() => { return /"/.test( __v0 ) })()'],
    ['after divisions', `(a) / b / ${A} / 2`, '(a) / b /  __v0  / 2'],
    ['as a divisor of itself', `${A} / 2 + "/" / ${A}`, ' __v0  / 2 + "/" /  __v1 '],
    ['after an escaped quote', `'it\\'s' + ${A}`, `'it\\'s' +  __v0 `],
    ['after comments', `/* " */ ${A} // '\n + ${A}`, `/* " */  __v0  // '\n +  __v1 `],
  ])('%s', (_where, text, code) => {
    const bound = bind(text)
    expect(bound).toMatchObject({ code })
    expect(bound).toMatchObject({ as: expect.not.arrayContaining(['text']) })
  })

  it.each([
    ['double quotes', `"Hi ${A}!".length`, '("Hi " + __v0 + "!").length'],
    ['single quotes', `'${A}${A}'`, `('' + __v0 + '' + __v1 + '')`],
    ['a template', '`Hi ' + A + '!`', '`Hi ${__v0}!`'],
    ['a template in a hole', '`a${`b' + A + '`}`', '`a${`b${__v0}`}`'],
    ['quotes that hold other quotes', `"it's ${A}"`, `("it's " + __v0 + "")`],
    ['a string after one without tokens', `'a' + "${A}"`, `'a' + ("" + __v0 + "")`],
  ])('as text inside %s', (_where, text, code) => {
    const bound = bind(text)
    expect(bound).toMatchObject({ code })
    expect(bound).toMatchObject({ as: expect.not.arrayContaining(['value']) })
  })

  it('and nothing inside a comment', () => {
    expect(bind(`1 // ${A}\n + 1 /* ${A} */`)).toEqual({ code: '1 // \n + 1 /*  */', as: [] })
  })

  it('and is refused inside a regular expression', () => {
    expect(bind(`/^${A}$/.test("x")`)).toContain('use new RegExp({{input.a}})')
  })

  it('in any context', () => {
    const piece = fc.constantFrom(
      A,
      '"',
      "'",
      '`',
      '/',
      '//',
      '/*',
      '*/',
      '\\',
      '${',
      '{',
      '}',
      '[',
      ']',
      'x',
      ' ',
      '\n',
      '=',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const bound = bindTokens(parseTemplate(pieces.join('')))
        if (!bound.ok) return
        expect(bound.code).not.toContain(A)
        expect(bound.code.match(/__v\d+/g) ?? []).toHaveLength(bound.bindings.length)
      }),
      { numRuns: 2000 },
    )
  })
})
