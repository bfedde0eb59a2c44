import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { answer, tellAnswer } from '../../questions/answer.ts'
import { perplexity } from './provider.ts'

const Reply = z.object({
  choices: z.array(z.object({ message: z.object({ content: WireText }) })),
  /** The addresses of sources. Newer replies have titles in `search_results`. */
  citations: z.array(z.string()).nullish(),
  search_results: z.array(z.object({ url: z.string(), title: WireText })).nullish(),
})

export const perplexityAnswer = defineAdapter(answer, perplexity, {
  price: 1,
  run: (ask, { question }) => {
    const json = { model: 'sonar', messages: [{ role: 'user', content: question }] }
    return ask({ method: 'POST', path: '/chat/completions', json }, Reply, (found) =>
      tellAnswer(
        found.choices[0]?.message.content,
        found.search_results ?? (found.citations ?? []).map((url) => ({ url })),
      ),
    )
  },
})
