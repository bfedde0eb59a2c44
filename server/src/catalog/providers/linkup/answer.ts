import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { answer, tellAnswer } from '../../questions/answer.ts'
import { linkup } from './provider.ts'

const Reply = z.object({
  answer: WireText,
  sources: z.array(z.object({ url: z.string(), name: WireText })).nullish(),
})

export const linkupAnswer = defineAdapter(answer, linkup, {
  price: 1,
  run: (ask, { question }) => {
    const json = { q: question, depth: 'standard', outputType: 'sourcedAnswer' }
    return ask({ method: 'POST', path: '/v1/search', json }, Reply, (found) =>
      tellAnswer(
        found.answer,
        (found.sources ?? []).map(({ url, name }) => ({ url, title: name })),
      ),
    )
  },
})
