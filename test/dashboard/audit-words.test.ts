import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AUDIT_WORDS, describeEntry } from '../../dashboard/src/screens/audit/audit-words.ts'

const ID = '0192f0c4-7a10-7bbb-8ccc-0123456789ab'
const say = (action: string, given: Partial<Parameters<typeof describeEntry>[0]> = {}) =>
  describeEntry({ action, target: ID, subject: null, details: {}, ...given })
    .map(({ text }) => text)
    .join('')

describe('H17: the audit log in sentences', () => {
  it('every change that the server records has its words', () => {
    const unknown = ['server/src', 'cli']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
      )
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => readFileSync(path, 'utf8'))
      .filter((text) => /\b(recordAudit|recordChange|recordCreation|audit)\b/.test(text))
      .flatMap((text) =>
        [...text.matchAll(/action(?::| =)[^'\n]*'([a-z_]+\.[a-z_]+)'/g)].map(([, name = '']) => name),
      )
      .filter((name) => !Object.hasOwn(AUDIT_WORDS, name))
    expect(unknown).toEqual([])
  })

  it.each([
    [
      'workflow.shared',
      { subject: { name: 'Leads', path: '/workflows/1' }, details: { email: 'bo@x.example' } },
      'shared Leads with bo@x.example',
    ],
    [
      'rows.deleted',
      { subject: { name: 'Leads', path: null }, details: { count: 1 } },
      'deleted 1 row of Leads',
    ],
    [
      'rows.edited',
      { subject: { name: 'Leads', path: null }, details: { count: 1200 } },
      'edited 1,200 rows of Leads',
    ],
    ['env.set', { target: 'API_TOKEN' }, 'set the variable API_TOKEN'],
    ['budget.deleted', { details: { name: 'Monthly' } }, 'deleted the budget Monthly'],
    [
      'inputs.created',
      { subject: { name: 'Leads', path: null }, details: { names: ['email', 'site'] } },
      'added the inputs email, site to Leads',
    ],
    ['run.stopped', {}, 'stopped the runs of something that was deleted'],
    ['constellation.seen', { target: 'Orion' }, 'constellation seen: Orion'],
  ])('%s', (action, given, sentence) => {
    expect(say(action, given)).toBe(sentence)
  })

  it('no sentence shows an id', () => {
    for (const action of Object.keys(AUDIT_WORDS)) expect(say(action)).not.toContain(ID)
  })
})
