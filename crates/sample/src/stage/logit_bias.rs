//! Logit bias: logit += bias, for named tokens. Negative infinity bans the token.

/// Adds each bias to its token's logit. Ids outside the slice are passed over.
pub fn logit_bias(logits: &mut [f32], bias: &[(u32, f32)]) {
    for &(token, value) in bias {
        if let Some(logit) = logits.get_mut(token as usize) {
            *logit += value;
        }
    }
}
