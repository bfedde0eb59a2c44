import { z } from 'zod'
import { runActor } from '../../../catalog/providers/apify/actor.ts'
import { apify } from '../../../catalog/providers/apify/provider.ts'
import { definePull } from '../../pull.ts'
import { unmasked } from '../../rows.ts'
import { defineShape } from '../../shape.ts'

const KINDS = ['reactions', 'comments'] as const

export const postReactors = defineShape({
  body: {
    post_url: z
      .string()
      .trim()
      .max(1000)
      .regex(/^https?:\/\/([a-z]+\.)?linkedin\.com\/\S+/i, 'must be the URL of a post on LinkedIn')
      .describe('The post'),
    kinds: z
      .array(z.enum(KINDS))
      .min(1)
      .max(2)
      .describe('The people to list: those who reacted, those who commented; default both')
      .optional(),
  },
  row: z.object({
    full_name: unmasked.min(1),
    headline: z.string().nullable(),
    linkedin_url: z.string().nullable(),
    reaction: z.string().nullable(),
    comment: z.string().nullable(),
  }),
})

// Evidence: harvestapi's actors linkedin-post-reactions and linkedin-post-comments in public clients: posts, maxItems; actor, reactionType, commentary.
const Text = z.string().nullish()
const Items = z.array(
  z.object({
    id: Text,
    reactionType: Text,
    commentary: Text,
    actor: z.object({ id: Text, name: Text, position: Text, headline: Text, linkedinUrl: Text }).nullish(),
  }),
)
const ACTORS = {
  reactions: 'harvestapi~linkedin-post-reactions',
  comments: 'harvestapi~linkedin-post-comments',
}
/** The maximum number of items of a run, so that it ends within the timeout of one call. */
const MAX_ITEMS = 1000
const State = z.object({ kind: z.int().min(0) })

/** Reads one actor per page. A run has no pages, so a post with more items than a run returns is cut off. */
export const apifyReactors = definePull(postReactors, apify, {
  price: 0.1,
  state: State,
  pull({ body, state, limit, ask }) {
    const kinds = [...new Set(body.kinds ?? KINDS)]
    const place = state?.kind ?? 0
    const kind = kinds[place] ?? 'reactions'
    const maxItems = Math.min(limit, MAX_ITEMS)
    return ask(runActor(ACTORS[kind], { posts: [body.post_url], maxItems }), Items, (items) => ({
      records: items.flatMap(({ id, actor, reactionType, commentary }) => {
        if (!actor) return []
        const who = actor.linkedinUrl ?? actor.id ?? actor.name ?? ''
        return [
          {
            key: kind === 'comments' ? `comment ${id ?? who}` : `reaction ${who}`,
            row: {
              full_name: actor.name ?? '',
              headline: actor.position ?? actor.headline ?? null,
              linkedin_url: actor.linkedinUrl ?? null,
              reaction: reactionType ?? null,
              comment: commentary ?? null,
            },
          },
        ]
      }),
      next: place + 1 < kinds.length ? { kind: place + 1 } : null,
      capped: items.length >= MAX_ITEMS,
    }))
  },
})
