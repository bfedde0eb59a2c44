import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_ACTIONS } from '#contract/actions.ts'
import { viewChain } from '#server/catalog/configuration/chain-view.ts'
import { toGraph } from '#server/catalog/configuration/node.ts'
import { testCatalogue } from '#test/builders/catalogue.ts'
import type { ActionInstance, Definition } from './definition.ts'
import { addAction, checkAfter, moveAction, nextInstanceId, removeAction, replaceAction } from './edit.ts'

const action = (id: string, more: Partial<ActionInstance> = {}): ActionInstance => ({
  id,
  action_id: id.replace(/_\d+$/, ''),
  display_name: id,
  inputs: {},
  epoch: 0,
  ...more,
})
const chainOf = (...ids: string[]): Definition => ({ inputs: [], actions: ids.map((id) => action(id)) })
const idsOf = (definition: Definition) => definition.actions.map(({ id }) => id)
const epochsOf = (definition: Definition) => definition.actions.map(({ epoch }) => epoch)
const ABC = chainOf('a_1', 'b_1', 'c_1')

function valueOf<T>(parsed: { ok: true; value: T } | { ok: false; errors: unknown }): T {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
  return parsed.value
}

describe('4.5 Add Action', () => {
  it.each([
    ['appends to the chain end by default', undefined, ['a_1', 'b_1', 'c_1', 'x_1']],
    ['right after the action that `after` names', 'a_1', ['a_1', 'x_1', 'b_1', 'c_1']],
    ['after the last', 'c_1', ['a_1', 'b_1', 'c_1', 'x_1']],
    ['D30: `input` is the start', 'input', ['x_1', 'a_1', 'b_1', 'c_1']],
  ])('%s', (_name, after, expected) => {
    const added = valueOf(addAction(ABC, action('x_1'), after))
    expect([idsOf(added), epochsOf(added)]).toEqual([expected, [0, 0, 0, 0]])
    expect(checkAfter(ABC, after)).toEqual([])
  })

  it('repeated adds with the same `after` produce reverse order', () => {
    const added = ['x_1', 'x_2', 'x_3'].reduce(
      (chain, id) => valueOf(addAction(chain, action(id), 'a_1')),
      ABC,
    )
    expect(idsOf(added)).toEqual(['a_1', 'x_3', 'x_2', 'x_1', 'b_1', 'c_1'])
  })

  it.each(['z_1', 'a', '', 'graph', '__proto__'])(
    'D30: after %j, which is not there, is refused',
    (after) => {
      expect(addAction(ABC, action('x_1'), after)).toEqual({ ok: false, errors: checkAfter(ABC, after) })
      expect(checkAfter(ABC, after)).toMatchObject([{ field: 'after' }])
    },
  )

  it('a chain has a maximum length', () => {
    const full = chainOf(...Array.from({ length: MAX_ACTIONS }, (_, n) => `a_${n}`))
    expect(addAction(full, action('x_1'), undefined)).toMatchObject({
      ok: false,
      errors: [{ field: 'action_id' }],
    })
  })

  it('D30: suffixes are counted per template and never reused', () => {
    const first = nextInstanceId({}, 'filter')
    const second = nextInstanceId(first.serials, 'filter')
    const other = nextInstanceId(second.serials, 'constructor')
    expect([first.id, second.id, other.id]).toEqual(['filter_1', 'filter_2', 'constructor_1'])
    expect(other.serials).toEqual({ filter: 2, constructor: 1 })
  })
})

describe('4.5 Move Action', () => {
  it.each<[string, string | undefined, string[], string]>([
    ['a_1', undefined, ['b_1', 'c_1', 'a_1'], 'c_1'],
    ['a_1', 'c_1', ['b_1', 'c_1', 'a_1'], 'c_1'],
    ['a_1', 'b_1', ['b_1', 'a_1', 'c_1'], 'b_1'],
    ['c_1', 'input', ['c_1', 'a_1', 'b_1'], 'input'],
    ['c_1', 'a_1', ['a_1', 'c_1', 'b_1'], 'a_1'],
  ])('%s after %s; answers the actual predecessor', (id, after, expected, predecessor) => {
    const moved = valueOf(moveAction(ABC, id, after))
    expect([idsOf(moved.definition), moved.after]).toEqual([expected, predecessor])
    expect(epochsOf(moved.definition)).toEqual([0, 0, 0])
  })

  it.each([
    ['a_1', 'input', 'input'],
    ['b_1', 'a_1', 'a_1'],
    ['c_1', undefined, 'b_1'],
  ])('%s to where it is changes nothing', (id, after, predecessor) => {
    const moved = valueOf(moveAction(ABC, id, after))
    expect(moved.definition).toBe(ABC)
    expect(moved.after).toBe(predecessor)
  })

  it.each(['a_1', 'z_9', ''])('after %j is refused', (after) => {
    expect(moveAction(ABC, 'a_1', after)).toMatchObject({ ok: false, errors: [{ field: 'after' }] })
  })
})

describe('D26: what makes cached results stale', () => {
  const run_if = {
    conditions: [{ conditions: [{ variable: '{{input.x}}', operator: 'is empty' as const }] }],
  }

  it.each<[string, Partial<ActionInstance>, number[]]>([
    ['a new input', { inputs: { x: '1' } }, [0, 1, 1]],
    ['a run condition', { run_if }, [0, 1, 1]],
    ['the continue flag', { continue_workflow_if_action_fails: false }, [0, 1, 1]],
    ['a note', { note: 'Careful' }, [0, 0, 0]],
    ['a name', { display_name: 'Second' }, [0, 0, 0]],
  ])('%s', (_name, change, epochs) => {
    const changed = replaceAction(ABC, action('b_1', { display_name: 'b_1', ...change }))
    expect(changed).not.toBe(ABC)
    expect([idsOf(changed), epochsOf(changed)]).toEqual([['a_1', 'b_1', 'c_1'], epochs])
    expect(changed.actions[1]).toMatchObject(change)
  })

  it('even whitespace counts, the order of keys does not', () => {
    const before = replaceAction(ABC, action('a_1', { inputs: { body: [{ name: 'x', value: '1' }] } }))
    const same = replaceAction(before, {
      ...before.actions[0]!,
      inputs: { body: [{ value: '1', name: 'x' }] },
    })
    expect(same).toBe(before)
    const spaced = replaceAction(before, {
      ...before.actions[0]!,
      inputs: { body: [{ name: 'x', value: '1 ' }] },
    })
    expect(epochsOf(spaced)).toEqual([2, 2, 2])
  })

  it('D26: an explicit default of a run condition makes no result stale; another value does', () => {
    const run_if = {
      conditions: [{ conditions: [{ variable: '{{input.x}}', operator: 'is empty' as const }] }],
    }
    const flagged = (continue_workflow_if_run_condition_not_met: boolean) =>
      action('b_1', { epoch: 1, run_if: { ...run_if, continue_workflow_if_run_condition_not_met } })
    const before = replaceAction(ABC, action('b_1', { run_if }))
    expect(epochsOf(before)).toEqual([0, 1, 1])
    const stated = replaceAction(before, flagged(false))
    expect(stated.actions[1]).toEqual(flagged(false))
    expect(epochsOf(stated)).toEqual([0, 1, 1])
    expect(epochsOf(replaceAction(stated, flagged(true)))).toEqual([0, 2, 2])
  })

  it('an unknown action changes nothing', () => {
    expect(replaceAction(ABC, action('z_1'))).toBe(ABC)
    expect(removeAction(ABC, 'z_1')).toBe(ABC)
  })

  it.each<[string, string[], number[]]>([
    ['a_1', ['b_1', 'c_1'], [1, 1]],
    ['b_1', ['a_1', 'c_1'], [0, 1]],
    ['c_1', ['a_1', 'b_1'], [0, 0]],
  ])('deleting %s bumps all after it', (id, ids, epochs) => {
    const left = removeAction(ABC, id)
    expect([idsOf(left), epochsOf(left)]).toEqual([ids, epochs])
  })
})

type Step =
  | { kind: 'add'; template: string; after: number }
  | { kind: 'move' | 'delete'; at: number; after: number }
  | { kind: 'configure'; at: number; value: string; note: boolean }

const place = fc.integer({ min: -1, max: 12 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add'), template: fc.constantFrom('gate', 'caller', 'gone'), after: place }),
  fc.record({ kind: fc.constantFrom('move', 'delete'), at: fc.nat(8), after: place }),
  fc.record({
    kind: fc.constant('configure'),
    at: fc.nat(8),
    value: fc.constantFrom('', 'x', 'y'),
    note: fc.boolean(),
  }),
)

describe('random chains', () => {
  it('stay one linear chain with unique ids, a valid graph, fresh suffixes and epochs that only grow', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let chain: Definition = { inputs: [], actions: [] }
        let serials: Record<string, number> = {}
        const everSeen = new Set<string>()
        for (const next of steps) {
          const before = chain
          const afterId = (at: number) => (at < 0 ? 'input' : chain.actions[at]?.id)
          if (next.kind === 'add') {
            const given = nextInstanceId(serials, next.template)
            expect(everSeen).not.toContain(given.id)
            everSeen.add(given.id)
            serials = given.serials
            chain = valueOf(addAction(chain, action(given.id), afterId(next.after)))
            expect(chain.actions).toHaveLength(before.actions.length + 1)
          } else {
            const target = chain.actions[next.at]
            if (target === undefined) continue
            if (next.kind === 'delete') chain = removeAction(chain, target.id)
            if (next.kind === 'move') {
              const moved = moveAction(chain, target.id, afterId(next.after))
              if (!moved.ok) expect(afterId(next.after)).toBe(target.id)
              else {
                chain = moved.value.definition
                const nodes = toGraph(viewChain(chain, testCatalogue, new Map()))
                const predecessor = nodes.find((node) => node.next.includes(target.id))
                expect(predecessor?.action_instance_id).toBe(moved.value.after)
                expect(idsOf(chain).toSorted()).toEqual(idsOf(before).toSorted())
              }
            }
            if (next.kind === 'configure') {
              const change = next.note ? { note: next.value } : { inputs: { address: next.value } }
              chain = replaceAction(chain, { ...target, ...change })
            }
          }
          checkGraph(chain)
          for (const { id, epoch } of before.actions) {
            const now = chain.actions.find((known) => known.id === id)
            if (now !== undefined) expect(now.epoch).toBeGreaterThanOrEqual(epoch)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})

function checkGraph(chain: Definition): void {
  const nodes = toGraph(viewChain(chain, testCatalogue, new Map()))
  const ids = nodes.map((node) => node.action_instance_id)
  expect(ids).toEqual(['input', ...idsOf(chain)])
  expect(new Set(ids).size).toBe(ids.length)
  expect(nodes.map((node) => node.next)).toEqual([...ids.slice(1).map((id) => [id]), []])
}
