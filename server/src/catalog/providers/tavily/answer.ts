import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { answer, tellAnswer } from '../../questions/answer.ts'
import { tavily } from './provider.ts'

const Reply = z.object({
  answer: WireText,
  results: z.array(z.object({ url: z.string(), title: WireText })).nullish(),
})

export const tavilyAnswer = defineAdapter(answer, tavily, {
  price: 1,
  run: (ask, { question }) => {
    const json = { query: question, include_answer: true, max_results: 5 }
    return ask({ method: 'POST', path: '/search', json }, Reply, (found) =>
      tellAnswer(found.answer, found.results ?? []),
    )
  },
})
