import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { answer, tellAnswer } from '../../questions/answer.ts'
import { exa } from './provider.ts'

const Reply = z.object({
  answer: WireText,
  citations: z.array(z.object({ url: z.string(), title: WireText })).nullish(),
})

export const exaAnswer = defineAdapter(answer, exa, {
  price: 1,
  run: (ask, { question }) =>
    ask({ method: 'POST', path: '/answer', json: { query: question } }, Reply, (found) =>
      tellAnswer(found.answer, found.citations ?? []),
    ),
})
