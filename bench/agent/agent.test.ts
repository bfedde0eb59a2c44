import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '#server/lib/config/config.ts'
import { openContestants } from './contestants.ts'
import { evaluate } from './evaluation.ts'
import { sumUp } from './scoring.ts'
import { serveScriptedModel } from './scripted/model-server.ts'
import { TRAPS } from './traps.ts'
import { serveWorld } from './world-server.ts'
import { buildWorld } from './world.ts'

describe('the evaluation of the web agent', () => {
  it('asks at least 100 questions, the same again for the same seed, some of them without an answer', () => {
    const { questions } = buildWorld({ seed: 7, ofEach: 2, port: 80 })
    expect(questions.length).toBeGreaterThanOrEqual(100)
    expect(questions).toEqual(buildWorld({ seed: 7, ofEach: 2, port: 80 }).questions)
    expect(questions).not.toEqual(buildWorld({ seed: 8, ofEach: 2, port: 80 }).questions)
    expect(questions.filter(({ truth }) => truth === null).length).toBeGreaterThanOrEqual(20)
  })

  it('finds the facts in spite of every trap, cites them, leaves unknown facts open, and beats simpler contestants', async () => {
    const world = await serveWorld({ seed: 11, ofEach: 1 })
    onTestFinished(world.close)
    const model = await serveScriptedModel()
    onTestFinished(model.close)
    const config = readConfig({ LOAM_MODEL_BASE_URL: model.url, LOAM_AGENT_MODEL: 'scripted' })
    const { contestants, close } = await openContestants(config, world)
    onTestFinished(close)
    const ofTrap = Map.groupBy(world.questions, ({ trap }) => trap)
    const known = [...ofTrap.values()].flatMap((all) => all.find(({ truth }) => truth !== null) ?? [])
    const open = (ofTrap.get('missing facts') ?? []).filter(({ truth }) => truth === null)
    const questions = [...known, ...open.slice(0, 1)]
    expect(known).toHaveLength(Object.keys(TRAPS).length)

    const scores = []
    for (const contestant of contestants) {
      const marks = await evaluate(contestant, world, questions, { atOnce: 4 })
      scores.push({ name: contestant.name, ...sumUp(marks) })
    }
    const [agent, onePage, alone] = scores
    expect(agent).toMatchObject({ name: 'web agent', exact: 1, wrong: 0, abstained: 1, failures: 0 })
    expect(agent?.citations).toBeGreaterThanOrEqual(known.length)
    expect(agent?.validCitations).toBe(agent?.citations)
    expect(onePage?.exact).toBeLessThan(0.7)
    expect(onePage?.pages).toBeGreaterThan(0)
    expect(alone).toMatchObject({ name: 'model alone', exact: 0, pages: 0 })
    expect(world.collected()).toBe(0)
  })
})
