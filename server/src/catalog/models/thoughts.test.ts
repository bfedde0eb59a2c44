import { expect, it } from 'vitest'
import { withoutThoughts } from './thoughts.ts'

it.each([
  ['no thoughts', 'no thoughts'],
  ['<think>a</think>b', 'b'],
  ['a<think>b\n</think>c<think></think>d', 'a\nc\nd'],
  ['a<think>b', 'a<think>b'],
  ['</think>a<think>b', '</think>a<think>b'],
  ['<think>a<think>b</think>c', 'c'],
])('%j without its thoughts is %j', (text, rest) => expect(withoutThoughts(text)).toBe(rest))

it('I3: thoughts that never end are searched for once', () => {
  const before = process.threadCpuUsage()
  withoutThoughts(`</think>${'<think>'.repeat(500_000)}`)
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(200)
})
