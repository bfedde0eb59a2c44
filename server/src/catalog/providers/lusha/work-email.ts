import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasBothNames, workEmail } from '../../questions/work-email.ts'
import { revealContact } from './contact.ts'
import { lusha } from './provider.ts'

/** Returns true for grades that begin with A, which mark verified addresses. */
const isSure = (grade: string | null | undefined) => grade?.startsWith('A') ?? false

export const lushaWorkEmail = defineAdapter(workEmail, lusha, {
  price: 2,
  accepts: (person) => person.linkedin_url !== '' || hasBothNames(person),
  run: (ask, person) =>
    revealContact(ask, person, 'emails', ({ emails }) => {
      const atWork = (emails ?? []).filter(({ type }) => type === 'work')
      const best = atWork.find(({ confidence }) => isSure(confidence)) ?? atWork[0]
      return best === undefined ? MISS : hit({ email: best.email, confidence: null }, isSure(best.confidence))
    }),
})
