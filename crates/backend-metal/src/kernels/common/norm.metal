// What the norms share.

inline float inverse_rms(float squares, uint cols, float eps) {
    return 1.0f / sqrt(squares / float(cols) + eps);
}
