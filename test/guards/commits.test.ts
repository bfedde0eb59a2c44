import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'

const SUBJECT = /^(feat|fix|perf|refactor|test|docs|style|build|ci|chore)(\([a-z0-9-]+\))?!?: \S.*$/
const MAX_LENGTH = 72

/** Returns the subjects that lack a conventional prefix or are too long. */
const findWrong = (subjects: readonly string[]) =>
  subjects.filter((subject) => !SUBJECT.test(subject) || subject.length > MAX_LENGTH)

/**
 * Returns the subjects of the last 30 commits. A copy of the files without git, or inside the repository of something
 * else, has none. A shallow clone has fewer.
 */
function readSubjects(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trimEnd()
  try {
    if (git('rev-parse', '--show-prefix') !== '') return []
    return git('log', '-30', '--no-merges', '--format=%s').split('\n')
  } catch {
    return []
  }
}

it('the last commits have a conventional subject of at most 72 characters', () => {
  expect(findWrong(readSubjects())).toEqual([])
})

it('the check finds other subjects', () => {
  const right = ['feat: import TSV files', 'fix(api): name the field', 'refactor!: one room for money']
  const wrong = ['Import TSV files', 'feature: import', 'fix:no blank', `docs: ${'long '.repeat(14)}`]
  expect(findWrong([...right, ...wrong])).toEqual(wrong)
})
