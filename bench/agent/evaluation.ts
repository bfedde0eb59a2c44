import type { Contestant } from './contestants.ts'
import { type Mark, markAttempt } from './scoring.ts'
import type { ServedWorld } from './world-server.ts'
import type { Question } from './world.ts'

/** Puts every question to a contestant, `atOnce` questions at a time, and marks each attempt. */
export async function evaluate(
  contestant: Contestant,
  world: ServedWorld,
  questions: readonly Question[],
  options: { atOnce: number; onMark?: (mark: Mark) => void },
): Promise<Mark[]> {
  const waiting = questions.entries()
  const marks: Mark[] = []
  const work = async () => {
    for (const [n, question] of waiting) {
      const mark = markAttempt(world, question, await contestant.attempt(question))
      marks[n] = mark
      options.onMark?.(mark)
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, work))
  return marks
}
