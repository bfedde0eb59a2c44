import { z } from 'zod'
import { defineAdapter, type Found, hit, MISS } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type FoundEmail, hasBothNames, workEmail } from '../../questions/work-email.ts'
import { snov } from './provider.ts'

const PATH = '/v2/emails-by-domain-by-name'
const Task = z.object({ task_hash: z.string() })
const Started = z.union([Task, z.object({ data: Task }).transform(({ data }) => data)])
const Result = z.object({
  status: WireText,
  data: z
    .array(
      z.object({
        result: z.array(z.object({ email: z.string(), smtp_status: WireText })).nullish(),
      }),
    )
    .nullish(),
})

export const snovWorkEmail = defineAdapter(workEmail, snov, {
  price: 1,
  accepts: hasBothNames,
  run: (ask, { first_name, last_name, domain }, { poll }) => {
    if (typeof poll !== 'string') {
      const json = { rows: [{ first_name, last_name, domain }] }
      return ask({ method: 'POST', path: `${PATH}/start`, json }, Started, ({ task_hash }) => ({
        kind: 'pending',
        afterMs: 1500,
        poll: task_hash,
      }))
    }
    return ask(
      { path: `${PATH}/result`, query: { task_hash: poll } },
      Result,
      ({ status, data }): Found<FoundEmail> => {
        if (status === 'not_enough_credits') return refusal('no_credits', 'the key is used up')
        if (status !== 'completed') return { kind: 'pending', afterMs: 3000, poll }
        const emails = (data ?? [])
          .flatMap(({ result }) => result ?? [])
          .filter(({ smtp_status }) => smtp_status !== 'not_valid')
        const best = emails.find(({ smtp_status }) => smtp_status === 'valid') ?? emails[0]
        return best === undefined
          ? MISS
          : hit({ email: best.email, confidence: null }, best.smtp_status === 'valid')
      },
    )
  },
})
