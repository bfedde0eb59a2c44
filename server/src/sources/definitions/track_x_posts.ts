import { defineSource } from '../define.ts'
import { posts, recentPosts } from '../systems/x/posts.ts'

export default defineSource({
  slug: 'track_x_posts',
  name: 'Track posts on X',
  description: 'New posts that match a query, on a schedule.',
  mode: 'recurring',
  shape: posts,
  maxCountAlias: 'max_tweets',
  pulls: [recentPosts],
})
