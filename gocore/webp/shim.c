#include "shim.h"

#include <limits.h>

#include <webp/decode.h>

int tgl_webp_open(const uint8_t *data, size_t size, tgl_webp_size *out)
{
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(data, size, &features);
    if (status != VP8_STATUS_OK) return (int)status;
    *out = (tgl_webp_size){(uint32_t)features.width, (uint32_t)features.height, features.has_alpha, features.has_animation};
    return VP8_STATUS_OK;
}

int tgl_webp_read(const uint8_t *data, size_t size, int alpha, uint8_t *pixels, size_t stride, size_t capacity)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config) || stride > INT_MAX) return VP8_STATUS_INVALID_PARAM;
    config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){pixels, (int)stride, capacity};
    VP8StatusCode status = WebPDecode(data, size, &config);
    WebPFreeDecBuffer(&config.output);
    return (int)status;
}
